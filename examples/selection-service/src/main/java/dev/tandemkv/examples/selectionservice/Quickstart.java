package dev.tandemkv.examples.selectionservice;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.testkit.engine.http.HttpEngine;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** Fake engines and a service: does what a gateway does, for the same prompt twice, over HTTP alone, and tells what happened. */
final class Quickstart implements AutoCloseable {

    private static final int TOKENS = 100;
    private static final String PROMPT = String.join(
            " ", IntStream.range(0, TOKENS).mapToObj(i -> "word" + i).toList());
    private static final String MODEL = "demo";
    private static final int MOST_ENGINES = 16;
    private static final long POLL_MILLIS = 10;
    private static final int POLLS = 1_000;

    private final PrintStream out;
    private final ServiceClient client = new ServiceClient();
    private final Parts parts = new Parts();

    Quickstart(PrintStream out) {
        this.out = out;
    }

    /**
     * Runs it once.
     *
     * @param arguments its own options, the rest are the service's
     * @throws BadRequestException naming the setting
     * @throws IOException if something answered otherwise than it should
     */
    void run(List<String> arguments, Map<String, String> environment) throws IOException, InterruptedException {
        List<String> rest = new ArrayList<>(arguments);
        boolean stay = rest.remove("--stay");
        int count = Arguments.number(rest, "--engines", 2, 1, MOST_ENGINES);
        List<HttpEngine> engines = engines(count);
        Map<String, String> surroundings = new HashMap<>(environment);
        surroundings.put("TANDEMKV_PORT", "0");
        surroundings.put("TANDEMKV_ENGINE_FAMILY", "vllm");
        Assembly assembly = Assembly.start(rest, surroundings);
        parts.add(assembly);
        URI service = URI.create("http://127.0.0.1:" + assembly.port());
        for (HttpEngine engine : engines) {
            out.println("engine " + engine.number() + "   " + engine.uri() + ", KV events "
                    + engine.worker().get("kv_events_endpoint"));
        }
        out.println("service    " + service);
        out.println();
        for (HttpEngine engine : engines) {
            register(engine, service);
        }
        out.println();
        route("the first time", "request-1", engines.get(0), service);
        awaitIndexed(service);
        out.println();
        route("the second time", "request-2", engines.get(0), service);
        if (stay) {
            inviteToTry(service);
            new CountDownLatch(1).await();
        }
    }

    private List<HttpEngine> engines(int count) throws IOException {
        FakeEngines started = FakeEngines.open();
        parts.add(started);
        List<HttpEngine> engines = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            engines.add(started.start(HttpEngine.builder(number), 0, 0));
        }
        return engines;
    }

    private void register(HttpEngine engine, URI service) throws IOException, InterruptedException {
        Map<String, Object> worker = new LinkedHashMap<>(engine.worker());
        worker.put("model_name", MODEL);
        worker.put("block_size", HttpEngine.BLOCK_SIZE);
        worker.put("max_num_batched_tokens", 8192);
        worker.put("total_kv_blocks", 10_000);
        JsonNode record = client.post(service.resolve("/workers"), worker);
        out.println("POST /workers: worker " + record.get("worker_id") + " is "
                + record.get("lifecycle").asText());
    }

    // ---- one request

    private void route(String when, String id, HttpEngine tokenizer, URI service)
            throws IOException, InterruptedException {
        JsonNode tokens = client.post(tokenizer.uri().resolve("/tokenize"), Map.of("model", MODEL, "prompt", PROMPT))
                .get("tokens");
        out.println("a prompt of " + tokens.size() + " tokens, " + when);
        JsonNode chosen = client.post(
                service.resolve("/select_and_reserve"),
                Map.of("model_name", MODEL, "selection_id", id, "token_ids", tokens));
        out.println("  POST /select_and_reserve: worker " + chosen.get("worker_id") + " at "
                + chosen.get("endpoint").asText() + ", which has "
                + chosen.at("/overlap/gpu") + " tokens cached and " + chosen.get("effective_prefill_tokens")
                + " to prefill");
        try {
            stream(URI.create("http://" + chosen.get("endpoint").asText()), service.resolve("/reservations/" + id));
        } finally {
            client.delete(service.resolve("/reservations/" + id));
        }
        out.println("  DELETE /reservations/" + id + ": bookings left: " + bookings(service));
    }

    private void stream(URI engine, URI reservation) throws IOException, InterruptedException {
        out.println("  POST " + engine + "/v1/completions");
        List<String> chunks = new ArrayList<>();
        client.stream(
                engine.resolve("/v1/completions"), Map.of("model", MODEL, "stream", true, "prompt", PROMPT), data -> {
                    out.println("    data: " + data);
                    if (chunks.isEmpty()) {
                        prefillComplete(reservation);
                    }
                    chunks.add(data);
                });
        JsonNode usage = new ObjectMapper()
                .readTree(chunks.get(Math.max(0, chunks.size() - 2)))
                .path("usage");
        out.println("  the engine says that it had " + usage.at("/prompt_tokens_details/cached_tokens") + " of "
                + usage.path("prompt_tokens") + " tokens cached");
    }

    /** The first token is there. Load that is told too late is no reason to lose an answer. */
    private void prefillComplete(URI reservation) {
        try {
            client.post(URI.create(reservation + "/prefill_complete"), Map.of());
            out.println("  POST " + reservation.getPath() + "/prefill_complete");
        } catch (IOException e) {
            out.println("  " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private long bookings(URI service) throws IOException, InterruptedException {
        return StreamSupport.stream(
                        client.get(service.resolve("/loads?model_name=" + MODEL))
                                .spliterator(),
                        false)
                .flatMap(
                        partition -> StreamSupport.stream(partition.get("loads").spliterator(), false))
                .mapToLong(load -> load.get("active_requests").asLong())
                .sum();
    }

    /** Waits until the engine's events have arrived: then the index knows every full block of the prompt. */
    private void awaitIndexed(URI service) throws IOException, InterruptedException {
        int blocks = TOKENS / HttpEngine.BLOCK_SIZE;
        Map<String, Object> query = Map.of("model_name", MODEL, "token_ids", HttpEngine.tokens(PROMPT));
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < POLLS; i++) {
            for (JsonNode rank :
                    client.post(service.resolve("/overlap_scores"), query).get("workers")) {
                if (rank.get("device_blocks").asInt() >= blocks) {
                    out.println("the index knows: worker " + rank.get("worker_id") + " holds " + blocks + " blocks of "
                            + HttpEngine.BLOCK_SIZE + " tokens");
                    return;
                }
            }
            if (never.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
        throw new IOException("in vain: until the engine's KV events are in the index");
    }

    private void inviteToTry(URI service) {
        out.println();
        out.println("curl -X POST " + service
                + "/select_and_reserve -H 'content-type: application/json' -d '{\"model_name\": \"" + MODEL
                + "\", \"selection_id\": \"mine\", \"token_ids\": [1, 2, 3]}'");
        out.println("curl -X DELETE " + service + "/reservations/mine");
    }

    @Override
    public void close() {
        parts.close();
    }
}
