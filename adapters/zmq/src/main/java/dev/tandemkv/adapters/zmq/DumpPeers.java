package dev.tandemkv.adapters.zmq;

import dev.tandemkv.indexer.dump.DumpLimits;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Other gateways that are asked once, at the start, for what the ranks hold: {@code GET} of each address in turn until one answers with a
 * whole dump. An empty dump is an answer too; when nobody answers, every rank begins empty. Immutable.
 *
 * @param addresses absolute {@code http} or {@code https} addresses of dumps, in the order in which they are asked; usually ending in {@code
 *     /dump}
 * @param delay before the first is asked; default 1 s
 * @param timeout for one peer, its whole answer; default 10 s
 * @param keep how long the dump is kept for ranks that are followed later; default 5 min
 * @param limits of a dump
 */
public record DumpPeers(List<URI> addresses, Duration delay, Duration timeout, Duration keep, DumpLimits limits) {

    /** @throws IllegalArgumentException if an address is not absolute HTTP, or a duration is out of range */
    public DumpPeers {
        addresses = List.copyOf(addresses);
        for (URI address : addresses) {
            boolean http =
                    "http".equalsIgnoreCase(address.getScheme()) || "https".equalsIgnoreCase(address.getScheme());
            if (!http || address.getHost() == null) {
                throw new IllegalArgumentException("addresses: " + address + " (expected: http or https with a host)");
            }
        }
        if (delay.isNegative()) {
            throw new IllegalArgumentException("delay: " + delay + " (expected: >= 0)");
        }
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: > 0)");
        }
        if (keep.isNegative()) {
            throw new IllegalArgumentException("keep: " + keep + " (expected: >= 0)");
        }
        Objects.requireNonNull(limits, "limits");
    }

    /** Peers under the default bounds. */
    public static DumpPeers of(List<URI> addresses) {
        return new DumpPeers(
                addresses, Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMinutes(5), DumpLimits.DEFAULTS);
    }

    /** Nobody is asked. */
    public static DumpPeers none() {
        return of(List.of());
    }

    /** The same peers, asked after another delay. */
    public DumpPeers withDelay(Duration value) {
        return new DumpPeers(addresses, value, timeout, keep, limits);
    }

    /** The same peers, each with another bound. */
    public DumpPeers withTimeout(Duration value) {
        return new DumpPeers(addresses, delay, value, keep, limits);
    }
}
