package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.indexer.dump.IndexDump;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks peers for a dump, one after the other, on a thread that ends with it: reading a dump takes too long for the loop's. Neither a timeout
 * nor {@link #cancel} interrupts that thread; the exchange is cancelled and the stream closed under it.
 */
final class DumpFetch {

    private static final Logger LOG = LoggerFactory.getLogger(DumpFetch.class);

    private static final IndexDump NOTHING = new IndexDump(List.of());

    private final DumpPeers peers;
    private final Scheduler scheduler;
    private final Consumer<IndexDump> whenDone;

    private final Object lock = new Object();
    private boolean cancelled;
    private @Nullable CompletableFuture<HttpResponse<InputStream>> exchange;
    private @Nullable InputStream body;
    /** The present peer was given up, perhaps between its answer's head and its body. */
    private boolean abandoned;

    /** @param whenDone takes the first whole dump, or an empty one; on the thread of this fetch */
    DumpFetch(DumpPeers peers, Scheduler scheduler, Consumer<IndexDump> whenDone) {
        this.peers = peers;
        this.scheduler = scheduler;
        this.whenDone = whenDone;
    }

    void start() {
        Thread thread = new Thread(this::run, "tandemkv-dump-fetch");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        Optional<IndexDump> dump = Optional.empty();
        try {
            HttpClient client =
                    HttpClient.newBuilder().connectTimeout(peers.timeout()).build();
            for (URI peer : peers.addresses()) {
                if (dump.isEmpty() && !isCancelled()) {
                    dump = ask(client, peer);
                }
            }
        } finally {
            // Whatever happened here, ranks wait for it.
            whenDone.accept(dump.orElse(NOTHING));
        }
    }

    private Optional<IndexDump> ask(HttpClient client, URI peer) {
        Scheduler.Task bound = scheduler.schedule(peers.timeout(), this::abort);
        try {
            HttpRequest request = HttpRequest.newBuilder(peer)
                    .header("Accept", DumpEndpoint.OWN_FORM + ", application/json")
                    .GET()
                    .build();
            HttpResponse<InputStream> response =
                    begin(client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream()));
            try (InputStream in = new BufferedInputStream(opened(response.body()), 1 << 16)) {
                if (response.statusCode() != 200) {
                    LOG.warn("Peer {} has no dump: status {}", peer, response.statusCode());
                    return Optional.empty();
                }
                return Optional.of(IndexDump.read(in, peers.limits()));
            }
        } catch (IOException | RuntimeException e) {
            // Whatever a peer makes of its answer, the next one is asked.
            LOG.warn("Peer {} gave no dump: {}", peer, e.toString());
            return Optional.empty();
        } finally {
            bound.cancel();
            forget();
        }
    }

    private HttpResponse<InputStream> begin(CompletableFuture<HttpResponse<InputStream>> asked) {
        boolean late;
        synchronized (lock) {
            exchange = asked;
            late = cancelled || abandoned;
        }
        if (late) {
            asked.cancel(true);
        }
        return asked.join();
    }

    private InputStream opened(InputStream stream) throws IOException {
        boolean late;
        synchronized (lock) {
            body = stream;
            late = cancelled || abandoned;
        }
        if (late) {
            stream.close();
        }
        return stream;
    }

    private void forget() {
        synchronized (lock) {
            exchange = null;
            body = null;
            abandoned = false;
        }
    }

    private boolean isCancelled() {
        synchronized (lock) {
            return cancelled;
        }
    }

    /** Gives up the present peer. */
    private void abort() {
        CompletableFuture<HttpResponse<InputStream>> asked;
        InputStream open;
        synchronized (lock) {
            abandoned = true;
            asked = exchange;
            open = body;
        }
        if (asked != null) {
            asked.cancel(true);
        }
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                LOG.debug("The answer of a peer did not close", e);
            }
        }
    }

    /** Gives up the present peer and all that follow. */
    void cancel() {
        synchronized (lock) {
            cancelled = true;
        }
        abort();
    }
}
