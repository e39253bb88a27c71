package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.testkit.replica.ReplicaGateway;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** Books and frees, with {@value #LIVE} requests at a time, until it is stopped; what is live then stays so. */
final class BookingLoad {

    static final int LIVE = 20;

    private static final int SESSIONS = 50;
    /** Bookings after which it rests, so that the process that is to join meanwhile gets a processor, and no queue overflows. */
    private static final int TURN = 10;

    private static final Duration REST = Duration.ofMillis(10);

    private final ReplicaGateway gateway;
    private final String name;
    private volatile boolean running;
    private CompletableFuture<Integer> work = new CompletableFuture<>();

    /** @param name tells its bookings from those of others */
    BookingLoad(ReplicaGateway gateway, String name) {
        this.gateway = gateway;
        this.name = name;
    }

    void start() {
        running = true;
        work = CompletableFuture.supplyAsync(this::run, task -> new Thread(task, "load").start());
    }

    private int run() {
        Queue<String> live = new ArrayDeque<>();
        int booked = 0;
        while (running || live.size() < LIVE) {
            String id = name + '-' + booked;
            gateway.book(id, "s" + booked % SESSIONS);
            live.add(id);
            if (live.size() > LIVE) {
                gateway.free(live.remove());
            }
            if (++booked % TURN == 0) {
                gateway.comesTrue(() -> false, REST);
            }
        }
        return booked;
    }

    /** How many it booked, or what went wrong. */
    String stop() {
        running = false;
        return String.valueOf(work.join());
    }
}
