package dev.tandemkv.adapters.jgroups;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * The knobs of a group. Immutable. All members have the same, but for {@code bind}.
 *
 * @param cluster the group's name; gateways of another name that are found are left alone; default {@code tandemkv}
 * @param bind where this member listens, and from where it connects: one address of this host, never all of them; no other socket is
 *     opened. Port 0 takes any free one, for {@link GroupDiscovery.Members} and {@link GroupDiscovery#services}
 * @param discovery where it looks for the others
 * @param security who may join and read along; default {@link GroupSecurity#open open}
 * @param outboundBookings messages about bookings that may wait to be sent; default 100,000
 * @param outboundSessions messages about sessions that may wait to be sent; default 4,096
 * @param maxMessageBytes longer messages are dropped and counted; default 32 MiB
 * @param joinTimeout how long a member that starts looks for others before it is the first; default 2 s
 * @param suspectAfter a member that was silent for so long is asked, and left behind if it does not answer; one whose connection breaks is
 *     asked at once; default 10 s
 * @param mergeEvery parts of a group that lost each other look for each other about so often; default 10 s
 */
public record GroupSettings(
        String cluster,
        InetSocketAddress bind,
        GroupDiscovery discovery,
        GroupSecurity security,
        int outboundBookings,
        int outboundSessions,
        int maxMessageBytes,
        Duration joinTimeout,
        Duration suspectAfter,
        Duration mergeEvery) {

    private static final Duration SHORTEST = Duration.ofMillis(10);

    /**
     * @throws IllegalArgumentException if the address is unresolved or a wildcard, a bound below 1, a duration outside 10 ms to 1 h, or the
     *     port is 0 although others are to find it under the same one
     */
    public GroupSettings {
        if (cluster.isBlank()) {
            throw new IllegalArgumentException("cluster: blank (expected: a name)");
        }
        if (bind.isUnresolved() || bind.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException("bind: " + bind + " (expected: one address of this host)");
        }
        Objects.requireNonNull(security, "security");
        if (bind.getPort() == 0
                && discovery instanceof GroupDiscovery.Dns dns
                && dns.kind() == GroupDiscovery.DnsRecords.ADDRESSES) {
            throw new IllegalArgumentException("bind: port 0 (expected: the port on which all members listen)");
        }
        requirePositive("outboundBookings", outboundBookings);
        requirePositive("outboundSessions", outboundSessions);
        requirePositive("maxMessageBytes", maxMessageBytes);
        requireTime("joinTimeout", joinTimeout);
        requireTime("suspectAfter", suspectAfter);
        requireTime("mergeEvery", mergeEvery);
    }

    private static void requirePositive(String field, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= 1)");
        }
    }

    private static void requireTime(String field, Duration value) {
        if (value.compareTo(SHORTEST) < 0 || value.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: 10 ms to 1 h)");
        }
    }

    /** Starts from the defaults. */
    public static Builder builder(InetSocketAddress bind, GroupDiscovery discovery) {
        return new Builder(bind, discovery);
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private final InetSocketAddress bind;
        private final GroupDiscovery discovery;
        private String cluster = "tandemkv";
        private GroupSecurity security = GroupSecurity.open();
        private int outboundBookings = 100_000;
        private int outboundSessions = 4_096;
        private int maxMessageBytes = 32 << 20;
        private Duration joinTimeout = Duration.ofSeconds(2);
        private Duration suspectAfter = Duration.ofSeconds(10);
        private Duration mergeEvery = Duration.ofSeconds(10);

        private Builder(InetSocketAddress bind, GroupDiscovery discovery) {
            this.bind = bind;
            this.discovery = discovery;
        }

        public Builder cluster(String name) {
            cluster = name;
            return this;
        }

        public Builder security(GroupSecurity value) {
            security = value;
            return this;
        }

        public Builder outboundBookings(int messages) {
            outboundBookings = messages;
            return this;
        }

        public Builder outboundSessions(int messages) {
            outboundSessions = messages;
            return this;
        }

        public Builder maxMessageBytes(int bytes) {
            maxMessageBytes = bytes;
            return this;
        }

        public Builder joinTimeout(Duration value) {
            joinTimeout = value;
            return this;
        }

        public Builder suspectAfter(Duration value) {
            suspectAfter = value;
            return this;
        }

        public Builder mergeEvery(Duration value) {
            mergeEvery = value;
            return this;
        }

        /** @throws IllegalArgumentException as {@link GroupSettings#GroupSettings} says */
        public GroupSettings build() {
            return new GroupSettings(
                    cluster,
                    bind,
                    discovery,
                    security,
                    outboundBookings,
                    outboundSessions,
                    maxMessageBytes,
                    joinTimeout,
                    suspectAfter,
                    mergeEvery);
        }
    }
}
