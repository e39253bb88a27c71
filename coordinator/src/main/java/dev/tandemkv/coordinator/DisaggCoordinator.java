package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.Experimental;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.internal.Coordination;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import dev.tandemkv.coordinator.internal.Settings;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Books a prefill worker and a decode worker for one request, from two pools, and keeps the two bookings consistent until both are gone.
 *
 * <pre>{@code
 * DisaggCoordinator coordinator = DisaggCoordinator.builder(prefillPool, decodePool, scheduler).build();
 * coordinator.plan(DisaggRequest.builder("request-1", prompt).build(), CancellationSignal.never())
 *         .thenAccept(plan -> {
 *             // dispatch to plan.booking(Leg.PREFILL) and plan.booking(Leg.DECODE), then:
 *             coordinator.prefillComplete(plan);
 *             plan.close();
 *         });
 * }</pre>
 *
 * <p>Thread-safe. No call blocks and none throws what its stage can carry; only null and foreign plans throw at the call. A stage completes
 * on the thread that brought the last answer, outside any lock; cancelling a stage, or completing it otherwise, withdraws the call. A
 * failed planning call answers only after everything that was held was freed or the free was tried once; what is then outstanding is
 * retried by the coordinator and listed by {@link #pendingFrees()}.
 */
public final class DisaggCoordinator implements AutoCloseable {

    private final Coordination coordination;
    private final PlanOrder order;

    private DisaggCoordinator(Settings settings) {
        coordination = new Coordination(settings);
        order = settings.order();
    }

    /**
     * @param prefillPool books prefill workers
     * @param decodePool books decode workers; may be another implementation
     * @param scheduler runs bounds, retries and renewals; the coordinator starts no thread
     */
    public static Builder builder(SelectionPool prefillPool, SelectionPool decodePool, Scheduler scheduler) {
        return new Builder(prefillPool, decodePool, scheduler);
    }

    public PlanOrder order() {
        return order;
    }

    /**
     * Books what the request needs: both legs, or decode alone where that is decided.
     *
     * @return the plan, or a failed stage: {@link PlanFailedException}, {@link TransferMetadataException}, {@link
     *     UnsatisfiableTransferDomainException}, {@link PlanLimitException}, {@link dev.tandemkv.catalog.ShutdownException}, or a {@link
     *     dev.tandemkv.catalog.ConflictException} where a plan of that id is open
     */
    public CompletionStage<RoutingPlan> plan(DisaggRequest request, CancellationSignal signal) {
        return coordination.plan(Objects.requireNonNull(request, "request"), Objects.requireNonNull(signal, "signal"));
    }

    /** Books the prefill leg alone; {@link #planDecode} follows. Only in {@link PlanOrder#PREFILL_ANCHORED}. Fails as {@link #plan}. */
    public CompletionStage<RoutingPlan> planPrefill(DisaggRequest request, CancellationSignal signal) {
        return coordination.planPrefill(
                Objects.requireNonNull(request, "request"), Objects.requireNonNull(signal, "signal"));
    }

    /** As {@link #planDecode(RoutingPlan, Set, CancellationSignal)} without workers to avoid. */
    public CompletionStage<RoutingPlan> planDecode(RoutingPlan plan, CancellationSignal signal) {
        return planDecode(plan, Set.of(), signal);
    }

    /**
     * Books the decode leg of a plan whose prefill is booked, or was, inside the domain of its prefill worker. Cancelling ends the plan.
     *
     * @param failedWorkers decode workers that failed this request before
     * @return the same plan, or a failed stage: as {@link #plan}, or {@link InvalidPlanStateException}, which changes nothing
     * @throws IllegalArgumentException if the plan is not one of this coordinator's
     */
    public CompletionStage<RoutingPlan> planDecode(
            RoutingPlan plan, Set<Long> failedWorkers, CancellationSignal signal) {
        return coordination.planDecode(plan, Set.copyOf(failedWorkers), Objects.requireNonNull(signal, "signal"));
    }

    /**
     * Says that prefill is done: its booking is freed, or in a bypass its charge on decode ends. Idempotent; does nothing where there is
     * nothing to end. If the free fails the stage fails, the booking stays, and the free is retried; a repeated call joins it.
     *
     * @throws IllegalArgumentException if the plan is not one of this coordinator's
     */
    public CompletionStage<Void> prefillComplete(RoutingPlan plan) {
        return coordination.prefillComplete(plan);
    }

    /**
     * Frees both legs at once and ends the plan. Idempotent; never fails: what a pool did not confirm is in the outcome, retried, and listed.
     *
     * @throws IllegalArgumentException if the plan is not one of this coordinator's
     */
    public CompletionStage<ReleaseOutcome> release(RoutingPlan plan) {
        return coordination.release(plan);
    }

    /**
     * Releases an open plan by its id, for hosts that hear of the end of a request elsewhere. Where there is none, tries what is still listed
     * in {@link #pendingFrees()} under that id, also what was reported as leaked.
     */
    public CompletionStage<ReleaseOutcome> release(String planId) {
        return coordination.release(Objects.requireNonNull(planId, "planId"));
    }

    /**
     * How many bypass decisions had {@link BypassSignals.Residency#NO_RESIDENCY_DATA}. Where this is most of them although prompts repeat, the
     * decode workers have no event feed, and nothing is bypassed for what they have cached.
     */
    public long decisionsWithoutResidency() {
        return coordination.decisionsWithoutResidency();
    }

    /** The plans that are not over, in no order. Also those whose planning failed while a free is outstanding. */
    public List<OpenPlan> openPlans() {
        return coordination.openPlans();
    }

    /** Every release that is not confirmed yet, in no order. */
    public List<PendingFree> pendingFrees() {
        return coordination.pendingFrees();
    }

    /**
     * Refuses further plans with {@link dev.tandemkv.catalog.ShutdownException} and releases the open ones; planning calls that are running fail
     * with kind {@code SHUTDOWN}. Frees that fail go on being retried while the scheduler runs, and are listed. Does not close the pools.
     * Idempotent.
     */
    @Override
    public void close() {
        coordination.close();
    }

    /** Collects the options of a coordinator; not thread-safe. */
    public static final class Builder {
        private final SelectionPool prefillPool;
        private final SelectionPool decodePool;
        private final Scheduler scheduler;
        private Ticker ticker = Ticker.system();
        private PlanOrder order = PlanOrder.PREFILL_ANCHORED;
        private DisaggPolicy policy = DisaggPolicy.disabled();
        private BusyThresholds thresholds = BusyThresholds.NONE;
        private PrefillFailurePolicy prefillFailure = PrefillFailurePolicy.FREE_DECODE;
        private DecodeFailurePolicy decodeFailure = DecodeFailurePolicy.FREE_PREFILL;
        private @Nullable Integer decodeRetries;
        private @Nullable Integer rePreviews;
        private Duration secondLegBound = Duration.ofSeconds(5);
        private Duration queryBound = Duration.ofSeconds(5);
        private FreeRetry freeRetry = FreeRetry.DEFAULT;
        private Duration lease = Duration.ofMinutes(5);
        private int maxOpenPlans = 1_000_000;
        private PairCheck pairCheck = PairCheck.ANCHOR_ONLY;
        private @Nullable TransferCost transferCost;
        private @Nullable RandomGenerator random;
        private PrefillAbort prefillAbort = PrefillAbort.none();
        private CoordinatorObserver observer = CoordinatorObserver.none();

        private Builder(SelectionPool prefillPool, SelectionPool decodePool, Scheduler scheduler) {
            this.prefillPool = Objects.requireNonNull(prefillPool, "prefillPool");
            this.decodePool = Objects.requireNonNull(decodePool, "decodePool");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Default: the JVM's monotonic clock. Must be the one that request deadlines are read on. */
        public Builder ticker(Ticker ticker) {
            this.ticker = Objects.requireNonNull(ticker, "ticker");
            return this;
        }

        /** Default {@link PlanOrder#PREFILL_ANCHORED}. */
        public Builder order(PlanOrder order) {
            this.order = Objects.requireNonNull(order, "order");
            return this;
        }

        /** Conditional disaggregation. Default {@link DisaggPolicy#disabled()}. */
        public Builder policy(DisaggPolicy policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /** Default {@link BusyThresholds#NONE}. */
        public Builder thresholds(BusyThresholds thresholds) {
            this.thresholds = Objects.requireNonNull(thresholds, "thresholds");
            return this;
        }

        /** Default {@link PrefillFailurePolicy#FREE_DECODE}. */
        public Builder prefillFailure(PrefillFailurePolicy prefillFailure) {
            this.prefillFailure = Objects.requireNonNull(prefillFailure, "prefillFailure");
            return this;
        }

        /** Default {@link DecodeFailurePolicy#FREE_PREFILL}. */
        public Builder decodeFailure(DecodeFailurePolicy decodeFailure) {
            this.decodeFailure = Objects.requireNonNull(decodeFailure, "decodeFailure");
            return this;
        }

        /** Further tries inside one {@code planDecode} under {@link DecodeFailurePolicy#KEEP_FOR_RETRY}. Default 2. */
        public Builder decodeRetries(int decodeRetries) {
            this.decodeRetries = requireFrom0("decodeRetries", decodeRetries);
            return this;
        }

        /** How often a lost choice is made again, in {@link PlanOrder#DECODE_ANCHORED} and {@link PlanOrder#JOINT}. Default 2. */
        public Builder rePreviews(int rePreviews) {
            this.rePreviews = requireFrom0("rePreviews", rePreviews);
            return this;
        }

        /** How long the second leg may take once the first is booked. Default 5 s. */
        public Builder secondLegBound(Duration secondLegBound) {
            this.secondLegBound = requirePositive("secondLegBound", secondLegBound);
            return this;
        }

        /**
         * How long a pool may take to answer what books nothing before the first leg is booked: a preview, a probe, scores. They never wait in
         * a queue. The first booking may, and is bounded by the request's deadline alone. Default 5 s.
         */
        public Builder queryBound(Duration queryBound) {
            this.queryBound = requirePositive("queryBound", queryBound);
            return this;
        }

        /** Default {@link FreeRetry#DEFAULT}. */
        public Builder freeRetry(FreeRetry freeRetry) {
            this.freeRetry = Objects.requireNonNull(freeRetry, "freeRetry");
            return this;
        }

        /** The lease of bookings that a pool owns by id: renewed every third of it. Default 300 s. */
        public Builder lease(Duration lease) {
            this.lease = requirePositive("lease", lease);
            return this;
        }

        /** Default 1,000,000. */
        public Builder maxOpenPlans(int maxOpenPlans) {
            if (maxOpenPlans < 1) {
                throw new IllegalArgumentException("maxOpenPlans: " + maxOpenPlans + " (expected: >= 1)");
            }
            this.maxOpenPlans = maxOpenPlans;
            return this;
        }

        /** Default {@link PairCheck#ANCHOR_ONLY}; {@link PlanOrder#JOINT} compares both workers anyway when it chooses. */
        public Builder pairCheck(PairCheck pairCheck) {
            this.pairCheck = Objects.requireNonNull(pairCheck, "pairCheck");
            return this;
        }

        /** For {@link PlanOrder#JOINT}. Default {@link TransferCost#none()}. */
        @Experimental
        public Builder transferCost(TransferCost transferCost) {
            this.transferCost = Objects.requireNonNull(transferCost, "transferCost");
            return this;
        }

        /** Breaks ties in {@link PlanOrder#JOINT}; used by one thread at a time. Default: seeded from the ticker. */
        public Builder random(RandomGenerator random) {
            this.random = Objects.requireNonNull(random, "random");
            return this;
        }

        /** Default {@link PrefillAbort#none()}. */
        public Builder prefillAbort(PrefillAbort prefillAbort) {
            this.prefillAbort = Objects.requireNonNull(prefillAbort, "prefillAbort");
            return this;
        }

        /** Default {@link CoordinatorObserver#none()}. */
        public Builder observer(CoordinatorObserver observer) {
            this.observer = Objects.requireNonNull(observer, "observer");
            return this;
        }

        /** @throws IllegalArgumentException naming an option that cannot act in this order or policy */
        public DisaggCoordinator build() {
            requireOptionsThatAct();
            return new DisaggCoordinator(new Settings(
                    prefillPool,
                    decodePool,
                    order,
                    policy,
                    thresholds,
                    prefillFailure,
                    decodeFailure,
                    decodeRetries == null ? 2 : decodeRetries,
                    rePreviews == null ? 2 : rePreviews,
                    secondLegBound,
                    queryBound,
                    freeRetry,
                    lease,
                    maxOpenPlans,
                    pairCheck,
                    transferCost == null ? TransferCost.none() : transferCost,
                    random == null ? new SeededRandom(ticker.read()) : random,
                    prefillAbort,
                    new GuardedObserver(observer),
                    ticker,
                    scheduler));
        }

        private void requireOptionsThatAct() {
            boolean decodeAnchored = order == PlanOrder.DECODE_ANCHORED;
            boolean probes = policy.prefillProbe() == DisaggPolicy.PrefillProbe.NEEDED;
            refuseIf(
                    prefillFailure != PrefillFailurePolicy.FREE_DECODE && !decodeAnchored,
                    "prefillFailure: " + prefillFailure + " (acts in DECODE_ANCHORED only)");
            refuseIf(
                    decodeFailure != DecodeFailurePolicy.FREE_PREFILL && order != PlanOrder.PREFILL_ANCHORED,
                    "decodeFailure: " + decodeFailure + " (acts in PREFILL_ANCHORED only)");
            refuseIf(
                    decodeRetries != null && decodeFailure != DecodeFailurePolicy.KEEP_FOR_RETRY,
                    "decodeRetries: " + decodeRetries + " (acts with KEEP_FOR_RETRY only)");
            refuseIf(
                    rePreviews != null && order == PlanOrder.PREFILL_ANCHORED,
                    "rePreviews: " + rePreviews + " (acts in DECODE_ANCHORED and JOINT only)");
            refuseIf(transferCost != null && order != PlanOrder.JOINT, "transferCost: given (acts in JOINT only)");
            refuseIf(random != null && order != PlanOrder.JOINT, "random: given (acts in JOINT only)");
            refuseIf(
                    !thresholds.equals(BusyThresholds.NONE) && (!decodeAnchored || !policy.enabled()),
                    "thresholds: " + thresholds + " (act in DECODE_ANCHORED with an enabled policy only)");
            refuseIf(
                    thresholds.prefill() != null && !probes,
                    "thresholds.prefill: " + thresholds.prefill() + " (this policy does not ask for prefill load)");
            refuseIf(
                    decodeAnchored && probes && thresholds.prefill() == null,
                    "thresholds.prefill: none (this policy asks for prefill load; usually the router's queue threshold)");
        }

        private static void refuseIf(boolean cannotAct, String message) {
            if (cannotAct) {
                throw new IllegalArgumentException(message);
            }
        }

        private static int requireFrom0(String name, int value) {
            if (value < 0) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: >= 0)");
            }
            return value;
        }

        private static Duration requirePositive(String name, Duration value) {
            if (Objects.requireNonNull(value, name).isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
            }
            return value;
        }
    }
}
