package dev.tandemkv.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.Prompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Two pools of two workers each, in virtual time, and what the tests say about them. */
final class Fixture implements CoordinatorObserver {

    final VirtualTime time = new VirtualTime();
    final MemoryPool prefill = new MemoryPool().worker(1).worker(2);
    final MemoryPool decode = new MemoryPool().worker(11).worker(12);
    final List<PendingFree> leaks = new ArrayList<>();
    final List<PendingFree> retries = new ArrayList<>();
    final List<String> transitions = new ArrayList<>();
    final List<String> compensations = new ArrayList<>();
    final List<BypassDecision> bypassDecisions = new ArrayList<>();

    DisaggCoordinator.Builder builder() {
        return DisaggCoordinator.builder(prefill, decode, time).ticker(time).observer(this);
    }

    DisaggCoordinator of(PlanOrder order) {
        return builder().order(order).build();
    }

    static DisaggRequest request(String id) {
        return DisaggRequest.builder(id, prompt(64)).expectedOutputTokens(100).build();
    }

    static Prompt prompt(int tokens) {
        return Prompt.ofTokens(new int[tokens]);
    }

    static RoutingPlan plan(DisaggCoordinator coordinator, DisaggRequest request) {
        return get(coordinator.plan(request, CancellationSignal.never()));
    }

    static RoutingPlan plan(DisaggCoordinator coordinator) {
        return plan(coordinator, request("r"));
    }

    static <T> T get(CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        assertThat(future).as("answered").isDone();
        return future.join();
    }

    static Throwable failure(CompletionStage<?> stage) {
        CompletableFuture<?> future = stage.toCompletableFuture();
        assertThat(future).as("failed").isCompletedExceptionally();
        try {
            future.join();
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        } catch (RuntimeException e) {
            return e;
        }
        throw new AssertionError("not failed");
    }

    static <X extends Throwable> X failure(CompletionStage<?> stage, Class<X> type) {
        Throwable failure = failure(stage);
        assertThat(failure).isInstanceOf(type);
        return type.cast(failure);
    }

    static WorkerSpec.Builder inZone(long id, String zone, @Nullable KvTransferEnforcement enforcement) {
        return WorkerSpec.builder(id)
                .endpoint("host" + id + ":8000")
                .blockSize(MemoryPool.BLOCK)
                .totalKvBlocks(1000L)
                .topologyDomains(Map.of("zone", zone))
                .kvTransferDomain("zone")
                .kvTransferEnforcement(enforcement);
    }

    void assertNothingHeld() {
        assertThat(prefill.liveIds()).as("prefill pool").isEmpty();
        assertThat(decode.liveIds()).as("decode pool").isEmpty();
    }

    void assertHeld(int prefillBookings, int decodeBookings) {
        assertThat(List.of(prefill.live(), decode.live()))
                .as("bookings in prefill and decode pool")
                .isEqualTo(List.of(prefillBookings, decodeBookings));
    }

    void advanceSeconds(long seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    @Override
    public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
        transitions.add(from + ">" + to);
    }

    @Override
    public void onBypassDecision(String planId, BypassDecision decision) {
        bypassDecisions.add(decision);
    }

    @Override
    public void onCompensation(String planId, @Nullable Throwable cause) {
        compensations.add(planId);
    }

    @Override
    public void onFreeRetry(PendingFree free) {
        retries.add(free);
    }

    @Override
    public void onLeak(PendingFree free) {
        leaks.add(free);
    }
}
