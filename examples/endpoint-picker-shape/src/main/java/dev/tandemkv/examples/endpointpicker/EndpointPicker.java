package dev.tandemkv.examples.endpointpicker;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LegRequest;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectionCore;
import java.io.PrintStream;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint picker beside a proxy does: one plan when the request comes, headers for the proxy, the end of prefill on the first
 * body bytes, the release when the stream closes. The gateway protocol itself is left out.
 */
public final class EndpointPicker {

    private final DisaggCoordinator coordinator;

    EndpointPicker(DisaggCoordinator coordinator) {
        this.coordinator = coordinator;
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        try {
            Scheduler scheduler = Scheduler.of(timers);
            EndpointPicker picker =
                    new EndpointPicker(DisaggCoordinator.builder(pool(scheduler, 1), pool(scheduler, 11), scheduler)
                            .order(PlanOrder.DECODE_ANCHORED)
                            .policy(DisaggPolicy.islBounding(128, 2))
                            .build());
            picker.show("long", new int[4096], System.out);
            picker.show("short", new int[32], System.out);
        } finally {
            timers.shutdownNow();
        }
    }

    static SelectionCore pool(Scheduler scheduler, long firstWorker) {
        SelectionCore pool = SelectionCore.builder().scheduler(scheduler).build();
        for (long id = firstWorker; id < firstWorker + 2; id++) {
            pool.upsert(WorkerSpec.builder(id)
                    .endpoint("10.0.0." + id + ":8000")
                    .blockSize(16)
                    .build());
        }
        return pool;
    }

    private void show(String id, int[] tokens, PrintStream out) throws Exception {
        try (RoutingPlan plan = pick(id, tokens, null, CancellationSignal.never())) {
            headers(plan).forEach((name, value) -> out.println(id + ": " + name + ": " + value));
            firstBodyBytes(plan);
        }
    }

    /**
     * @param subset decode workers the gateway allows, or {@code null} for all; an empty subset is an error, never ignored
     * @param streamClosed fires when the proxy's stream closes, also while the pick is running
     */
    RoutingPlan pick(String id, int[] tokens, @Nullable Set<Long> subset, CancellationSignal streamClosed)
            throws Exception {
        DisaggRequest request = DisaggRequest.builder(id, Prompt.ofTokens(tokens))
                .decode(LegRequest.builder().allowedWorkerIds(subset).build())
                .build();
        return await(coordinator.plan(request, streamClosed));
    }

    /** Five headers for a pair, three where decode serves alone. Whatever the client sent under these names is stripped before. */
    static Map<String, String> headers(RoutingPlan plan) {
        Map<String, String> headers = new TreeMap<>();
        WorkerRank decode = plan.selection(Leg.DECODE).orElseThrow().worker();
        headers.put("x-dynamo-worker-instance-id", Long.toUnsignedString(decode.workerId()));
        headers.put("x-dynamo-dp-rank", Integer.toUnsignedString(decode.rank()));
        headers.put("x-dynamo-routing-mode", plan.isBypass() ? "aggregated" : "disaggregated");
        if (!plan.isBypass()) {
            WorkerRank prefill = plan.selection(Leg.PREFILL).orElseThrow().worker();
            headers.put("x-dynamo-prefill-instance-id", Long.toUnsignedString(prefill.workerId()));
            headers.put("x-dynamo-prefill-dp-rank", Integer.toUnsignedString(prefill.rank()));
        }
        return headers;
    }

    /** The status a gateway answers where nothing could be picked. */
    static int status(Throwable failure) {
        return failure instanceof SelectionException typed ? typed.httpStatus() : 500;
    }

    void firstBodyBytes(RoutingPlan plan) throws Exception {
        await(coordinator.prefillComplete(plan));
    }

    /** Cancelling a call that takes too long withdraws it: a plan that comes too late is released by the coordinator. */
    private static <T> T await(CompletionStage<T> stage) throws Exception {
        CompletableFuture<T> answer = stage.toCompletableFuture();
        try {
            return answer.get(30, TimeUnit.SECONDS);
        } finally {
            answer.cancel(false);
        }
    }
}
