package dev.tandemkv.adapters.extproc;

import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.LegRequest;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionPool;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One decision: tokenize, book, look up where the worker listens now. Until its stage has answered, the pick owns what it booked; an
 * answer nobody takes is closed by the exchange.
 */
final class Pick {

    private final PickerParts parts;
    private final RequestHead head;
    private final CancellationSignal gone;

    Pick(PickerParts parts, RequestHead head, CancellationSignal gone) {
        this.parts = parts;
        this.head = head;
        this.gone = gone;
    }

    RequestHead head() {
        return head;
    }

    /**
     * A decision.
     *
     * @param held what the request holds; {@code null} for a request that books nothing
     * @param address where the request goes
     * @param prefillAddress where the decode worker's sidecar finds the prefill worker, or {@code null}
     */
    record Picked(
            @Nullable Held held,
            WorkerRank worker,
            String address,
            @Nullable String prefillAddress) {

        void close() {
            if (held != null) {
                held.close();
            }
        }
    }

    /** Any worker that takes requests and lies in the subset: for a request without a body there is nothing to choose by. */
    Picked withoutBody() {
        List<WorkerRank> ready = parts.endpoints().ready();
        Set<Long> allowed = allowed(parts.endpoints());
        List<WorkerRank> eligible = allowed == null
                ? ready
                : ready.stream()
                        .filter(rank -> allowed.contains(rank.workerId()))
                        .toList();
        if (eligible.isEmpty()) {
            throw Refusal.noEndpoint("no ready endpoint" + (allowed == null ? "" : " in the subset"));
        }
        WorkerRank worker = eligible.get(parts.chance().below(eligible.size()));
        return new Picked(null, worker, destination(worker), null);
    }

    /** Tokenizes, books and resolves. */
    CompletionStage<Picked> of(RequestContent content) {
        ModelRoutes.Route route = parts.models().route(content.model());
        Set<Long> allowed = allowed(parts.endpoints());
        if (allowed != null && allowed.isEmpty()) {
            throw Refusal.noEndpoint("no ready endpoint in the subset");
        }
        return tokenize(content)
                .thenCompose(tokens -> book(prompt(tokens, content, route), content, route, allowed))
                .thenApply(this::resolve);
    }

    private CompletionStage<TokenizedPrompt> tokenize(RequestContent content) {
        int[] ids = content.tokenIds();
        if (ids != null) {
            return CompletableFuture.completedFuture(TokenizedPrompt.of(ids));
        }
        CompletableFuture<TokenizedPrompt> answer = new CompletableFuture<>();
        CompletionStage<TokenizedPrompt> running = parts.tokenizer().tokenize(Objects.requireNonNull(content.prompt()));
        CancellationSignal.Registration onGone = gone.onCancel(() -> answer.cancel(false));
        Scheduler.Task bound = parts.scheduler()
                .schedule(
                        parts.settings().tokenizationTimeout(),
                        () -> answer.completeExceptionally(new TokenizerException(
                                TokenizerException.Failure.TIMEOUT,
                                "the tokenizer did not answer within "
                                        + parts.settings().tokenizationTimeout(),
                                null)));
        running.whenComplete((tokens, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(tokens);
            }
        });
        answer.whenComplete((tokens, failure) -> {
            onGone.close();
            bound.cancel();
            if (failure != null) {
                running.toCompletableFuture().cancel(false);
            }
        });
        return answer;
    }

    private Prompt prompt(TokenizedPrompt tokens, RequestContent content, ModelRoutes.Route route) {
        String namespace = head.tenant() != null ? head.tenant() : content.cacheSalt();
        return new Prompt.Tokens(tokens.tokenIds(), tokens.multimodal(), route.loraName(), namespace, null);
    }

    private CompletionStage<Held> book(
            Prompt prompt, RequestContent content, ModelRoutes.Route route, @Nullable Set<Long> allowed) {
        if (parts.routing() instanceof PickerRouting.Disaggregated pair) {
            return pair.coordinator()
                    .plan(plan(pair, prompt, content, route, allowed), gone)
                    .thenApply(plan -> Held.Pair.of(pair.coordinator(), plan));
        }
        PickerRouting.Aggregated one = (PickerRouting.Aggregated) parts.routing();
        Scope scope = Scope.of(head.pin(), allowed, parts.endpoints());
        return reserve(
                one.pool(),
                SelectRequest.builder(prompt)
                        .partition(route.partition())
                        .expectedOutputTokens(content.expectedOutputTokens())
                        .session(head.session())
                        .priorityJump(head.priority())
                        .strictPriority(head.strictPriority())
                        .pinnedWorker(scope.pin())
                        .allowedWorkerIds(scope.allowed())
                        .selectionId(parts.chance().newId())
                        .build());
    }

    /** A withdrawn stage makes the pool release what it books too late. */
    private CompletionStage<Held> reserve(SelectionPool pool, SelectRequest request) {
        CompletionStage<Booking> reserving = pool.selectAndReserve(request);
        CancellationSignal.Registration onGone =
                gone.onCancel(() -> reserving.toCompletableFuture().cancel(false));
        return reserving
                .whenComplete((booking, failure) -> onGone.close())
                .thenApply(booking -> new Held.One(pool, booking, request));
    }

    private DisaggRequest plan(
            PickerRouting.Disaggregated pair,
            Prompt prompt,
            RequestContent content,
            ModelRoutes.Route route,
            @Nullable Set<Long> allowed) {
        Scope decode = Scope.of(head.pin(), allowed, parts.endpoints());
        Scope prefill =
                Scope.of(head.prefillPin(), allowedForPrefill(pair.prefillEndpoints()), pair.prefillEndpoints());
        return DisaggRequest.builder(parts.chance().newId(), prompt)
                .modelName(route.partition().modelName())
                .expectedOutputTokens(content.expectedOutputTokens())
                .session(head.session())
                .priorityJump(head.priority())
                .strictPriority(head.strictPriority())
                .decode(LegRequest.builder()
                        .routingGroup(route.partition().routingGroup())
                        .pinnedWorker(decode.pin())
                        .allowedWorkerIds(decode.allowed())
                        .build())
                .prefill(LegRequest.builder()
                        .routingGroup(pair.prefillGroup())
                        .pinnedWorker(prefill.pin())
                        .allowedWorkerIds(prefill.allowed())
                        .build())
                .build();
    }

    /** Which workers one leg may go to. A pin without a rank leaves the choice among the worker's ranks to the router. */
    private record Scope(@Nullable WorkerRank pin, @Nullable Set<Long> allowed) {

        static Scope of(RequestHead.@Nullable Pin pin, @Nullable Set<Long> allowed, PoolEndpoints endpoints) {
            if (pin == null) {
                return new Scope(null, allowed);
            }
            long id = pin.workerId();
            if (pin.rank() != null) {
                return new Scope(new WorkerRank(id, pin.rank()), allowed);
            }
            List<WorkerRank> ranks = endpoints.ready().stream()
                    .filter(rank -> rank.workerId() == id)
                    .toList();
            boolean outside = allowed != null && !allowed.contains(id);
            if (outside || ranks.size() == 1) {
                return new Scope(outside ? new WorkerRank(id, 0) : ranks.get(0), allowed);
            }
            return new Scope(null, Set.of(id));
        }
    }

    /** A worker may have left between the choice and now: then its booking is released and nothing is sent to it. */
    private Picked resolve(Held held) {
        try {
            WorkerRank prefill = held.prefill();
            String prefillAddress = prefill != null && parts.routing() instanceof PickerRouting.Disaggregated pair
                    ? address(pair.prefillEndpoints(), prefill)
                    : null;
            return new Picked(held, held.destination(), destination(held.destination()), prefillAddress);
        } catch (RuntimeException stale) {
            held.close();
            throw stale;
        }
    }

    /** Books the worker that served a request instead of the one it was sent to; a pair is not taken apart. */
    Optional<CompletionStage<Held>> bookAt(WorkerRank served, Held former) {
        if (!(former instanceof Held.One booked) || booked.request() == null) {
            return Optional.empty();
        }
        SelectRequest there = booked.request().toBuilder()
                .selectionId(parts.chance().newId())
                .session(null)
                .allowedWorkerIds(null)
                .pinnedByRouter(served)
                .build();
        return Optional.of(reserve(booked.pool(), there));
    }

    private @Nullable Set<Long> allowed(PoolEndpoints endpoints) {
        return head.subset() == null ? null : endpoints.workersAt(head.subset());
    }

    /**
     * The subset is scoped to the pool of the destination. One that names prefill workers as well binds that leg too; one that names none
     * says nothing about it.
     */
    private @Nullable Set<Long> allowedForPrefill(PoolEndpoints endpoints) {
        Set<Long> named = allowed(endpoints);
        return named == null || named.isEmpty() ? null : new HashSet<>(named);
    }

    /** A worker that has moved out of the subset since it was allowed is as good as gone. */
    private String destination(WorkerRank worker) {
        String address = address(parts.endpoints(), worker);
        if (head.subset() != null && !head.subset().contains(address)) {
            throw Refusal.noEndpoint("the chosen worker has just left the subset");
        }
        return address;
    }

    private static String address(PoolEndpoints endpoints, WorkerRank worker) {
        String address = endpoints.address(worker);
        if (address == null) {
            throw Refusal.noEndpoint("the chosen worker has just left");
        }
        return address;
    }
}
