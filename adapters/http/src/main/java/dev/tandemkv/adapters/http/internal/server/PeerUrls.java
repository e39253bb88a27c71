package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NotFoundException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Other index services of one service, in the order of their addresses. Thread-safe; bounded. */
public final class PeerUrls {

    private static final int MOST = 1024;

    private final Consumer<URI> recovery;
    /** The addresses as they were given, with those of their dumps; guarded by this object. */
    private final TreeMap<String, URI> dumps = new TreeMap<>();

    /** @param recovery is told the address of the dump of each peer that is added */
    public PeerUrls(Consumer<URI> recovery) {
        this.recovery = recovery;
    }

    /** @return whether it is new; only then is it asked */
    public boolean add(String url) {
        URI dump = dumpOf(url);
        synchronized (this) {
            if (dumps.containsKey(url)) {
                return false;
            }
            if (dumps.size() >= MOST) {
                throw new BadRequestException("url", url, "at most " + MOST + " peers");
            }
            dumps.put(url, dump);
        }
        recovery.accept(dump);
        return true;
    }

    /** @throws BadRequestException if a peer cannot be there */
    public static void requireAddress(String url) {
        dumpOf(url);
    }

    private static URI dumpOf(String url) {
        try {
            URI peer = new URI(url);
            boolean http = "http".equalsIgnoreCase(peer.getScheme()) || "https".equalsIgnoreCase(peer.getScheme());
            if (http && peer.getHost() != null) {
                return new URI(url.endsWith("/") ? url + "dump" : url + "/dump");
            }
        } catch (URISyntaxException e) {
            // Refused below, like an address of another scheme.
        }
        throw new BadRequestException("url", url, "http://HOST:PORT");
    }

    void remove(String url) {
        synchronized (this) {
            if (dumps.remove(url) != null) {
                return;
            }
        }
        throw new NotFoundException("peer", url);
    }

    synchronized List<String> urls() {
        return List.copyOf(dumps.keySet());
    }
}
