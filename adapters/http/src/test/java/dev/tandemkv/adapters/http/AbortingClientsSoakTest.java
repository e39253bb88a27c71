package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.http.replay.RawClient;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.config.SelectionConfig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Many clients over real sockets that ask, leave in the middle, free, free twice and forget. What they withdrew leaves the queue; what they
 * forgot ends with its lease; then the books are empty.
 */
class AbortingClientsSoakTest {

    private static final int CLIENTS = 4;
    private static final int REQUESTS = 150;
    private static final int LOOPS = 2;
    private static final Map<String, String> JSON = Map.of("content-type", "application/json");

    @Test
    void abortingClients_leaveAnEmptyLedger() throws Exception {
        Vertx vertx = Vertx.vertx();
        SelectionConfig queued = SelectionConfig.builder().queueThreshold(0.001).build();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try (RunningService service =
                new RunningService(vertx, queued, options -> options.eventLoops(LOOPS)).workers(3)) {
            List<Future<?>> runs = new ArrayList<>();
            for (int client = 0; client < CLIENTS; client++) {
                RandomGenerator random = new SeededRandom(client);
                String name = "c" + client;
                runs.add(clients.submit(() -> run(service.port(), name, random)));
            }
            for (Future<?> run : runs) {
                run.get();
            }
            letEverythingBeRead(service.port());

            assertThat(RunningService.eventually(() -> service.pending() == 0)).isTrue();
            service.time.advance(Duration.ofSeconds(301));
            // An event loop may still be about to tell what it saw.
            assertThat(RunningService.eventually(() -> service.activeRequests() == 0))
                    .isTrue();
            assertThat(RunningService.eventually(() -> service.core.stats().reservations() == 0))
                    .isTrue();
            assertThat(RunningService.eventually(() -> service.reservations.count("127.0.0.1") == 0))
                    .isTrue();
            assertThat(service.core.stats().booked()).isPositive();
            assertThat(service.core.loads().get(0).loads())
                    .allSatisfy(load -> assertThat(load.potentialDecodeBlocks() + load.potentialPrefillTokens())
                            .isZero());
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } finally {
            clients.shutdownNow();
            RunningService.join(vertx.close().toCompletionStage());
        }
    }

    /**
     * What a client sent before it left may not be read yet. An event loop reads what is there in one turn, and what is sent after an answer
     * of that turn in another; new connections are shared out among the loops in turn.
     */
    private static void letEverythingBeRead(int port) throws IOException {
        List<RawClient> later = new ArrayList<>();
        for (int i = 0; i < 2 * LOOPS; i++) {
            later.add(new RawClient(port));
        }
        for (int turns = 0; turns < 2; turns++) {
            for (RawClient client : later) {
                client.send("GET", "/health", Map.of(), new byte[0]);
                client.receive("GET");
            }
        }
        for (RawClient client : later) {
            client.close();
        }
    }

    private static Void run(int port, String client, RandomGenerator random) throws IOException {
        RawClient connection = new RawClient(port);
        for (int i = 0; i < REQUESTS; i++) {
            String id = client + '-' + i;
            String tokens = "[" + random.nextInt(50) + ", 2, 3, 4, 5, " + random.nextInt(50) + ", 7, 8]";
            String refusal = random.nextInt(3) == 0 ? ", \"do_not_queue\": true" : "";
            byte[] body = ("{\"selection_id\": \"" + id + "\", \"token_ids\": " + tokens + refusal + "}").getBytes();
            connection.send("POST", "/select_and_reserve", JSON, body);
            int fate = random.nextInt(10);
            if (fate < 3 || refusal.isEmpty()) {
                // Leaves: before, while or after the service answers.
                if (random.nextBoolean()) {
                    Thread.onSpinWait();
                }
                connection.close();
                connection = new RawClient(port);
                connection.send("DELETE", "/reservations/" + id, Map.of(), new byte[0]);
                connection.receive("DELETE");
                continue;
            }
            boolean booked = connection.receive("POST").status() == 200;
            if (booked && fate < 9) {
                for (int frees = random.nextInt(1, 3); frees > 0; frees--) {
                    connection.send("DELETE", "/reservations/" + id, Map.of(), new byte[0]);
                    connection.receive("DELETE");
                }
            }
        }
        connection.close();
        return null;
    }
}
