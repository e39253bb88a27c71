package dev.tandemkv.selection;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a worker. One type serves the plain, the advisory and the booking form; what a form does not use it ignores. Immutable; built
 * by {@link #builder(Prompt)}.
 *
 * @param partition model and routing group; default {@code default:default}
 * @param selectionId booking id, or for a plain selection the id under which its inputs are kept for a replay; {@code null} lets a booking
 *     generate one
 * @param prompt tokens or hashes
 * @param override per-request configuration
 * @param expectedOutputTokens unsigned 32-bit, or {@code null}; passed to policies, ledger and peers
 * @param priorityJump raises the request inside its queue class; negative values count as 0
 * @param strictPriority unsigned; a higher tier goes first
 * @param session the conversation, or {@code null}
 * @param affinityTarget preferred worker of the caller's own; switches session steering off
 * @param pinnedWorker the only rank allowed; never reroutes
 * @param pinOrigin who pinned: a pin of the router's own leaves session handling as without a pin
 * @param allowedWorkerIds worker ids to choose from, or {@code null} for all; empty allows none
 * @param excludedWorkerIds worker ids not to choose, whatever the other fields allow: those that failed this request before
 * @param constraints required and preferred taints
 * @param mode what a plain selection does
 * @param queueing whether the request may wait
 * @param policyClass queue class or family, or {@code null}
 * @param deadlineTick instant of the core's ticker after which a waiting request ends, or {@code null}
 * @param recording whether a booking teaches an approximate index
 * @param explanation whether the decision returns each candidate with its terms
 */
public record SelectRequest(
        PartitionKey partition,
        @Nullable String selectionId,
        Prompt prompt,
        RouterConfigOverride override,
        @Nullable Integer expectedOutputTokens,
        double priorityJump,
        int strictPriority,
        @Nullable SessionContext session,
        @Nullable AffinityTarget affinityTarget,
        @Nullable WorkerRank pinnedWorker,
        PinOrigin pinOrigin,
        @Nullable Set<Long> allowedWorkerIds,
        Set<Long> excludedWorkerIds,
        RoutingConstraints constraints,
        Mode mode,
        Queueing queueing,
        @Nullable String policyClass,
        @Nullable Long deadlineTick,
        Recording recording,
        Explain explanation) {

    /** What a plain selection does. */
    public enum Mode {
        /** Waits in the queue where one is configured. */
        QUEUED,
        /** Never waits; the answer carries the worker's load. */
        ADVISORY
    }

    /** Whether a request that cannot be served at once may wait. */
    public enum Queueing {
        ALLOWED,
        /** Fails with {@code QUEUE_REJECTED} where it would wait. */
        REFUSED
    }

    /** Who pinned the request to a rank. */
    public enum PinOrigin {
        CLIENT,
        ROUTER
    }

    /** Whether a booking teaches an approximate index where the prompt will be cached. */
    public enum Recording {
        RECORDED,
        SKIPPED
    }

    /** Whether the decision explains itself. */
    public enum Explain {
        NOTHING,
        EVERY_CANDIDATE
    }

    /** @throws BadRequestException naming the field */
    public SelectRequest {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(override, "override");
        Objects.requireNonNull(pinOrigin, "pinOrigin");
        Objects.requireNonNull(constraints, "constraints");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(queueing, "queueing");
        Objects.requireNonNull(recording, "recording");
        Objects.requireNonNull(explanation, "explanation");
        if (!Double.isFinite(priorityJump)) {
            throw new BadRequestException("priority_jump", priorityJump, "a finite number");
        }
        allowedWorkerIds = allowedWorkerIds == null ? null : Set.copyOf(allowedWorkerIds);
        excludedWorkerIds = Set.copyOf(excludedWorkerIds);
    }

    public static Builder builder(Prompt prompt) {
        return new Builder(prompt);
    }

    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects the components of a {@link SelectRequest}; not thread-safe. */
    public static final class Builder {
        private PartitionKey partition = PartitionKey.DEFAULT;
        private @Nullable String selectionId;
        private Prompt prompt;
        private RouterConfigOverride override = RouterConfigOverride.NONE;
        private @Nullable Integer expectedOutputTokens;
        private double priorityJump;
        private int strictPriority;
        private @Nullable SessionContext session;
        private @Nullable AffinityTarget affinityTarget;
        private @Nullable WorkerRank pinnedWorker;
        private PinOrigin pinOrigin = PinOrigin.CLIENT;
        private @Nullable Set<Long> allowedWorkerIds;
        private Set<Long> excludedWorkerIds = Set.of();
        private RoutingConstraints constraints = RoutingConstraints.NONE;
        private Mode mode = Mode.QUEUED;
        private Queueing queueing = Queueing.ALLOWED;
        private @Nullable String policyClass;
        private @Nullable Long deadlineTick;
        private Recording recording = Recording.RECORDED;
        private Explain explanation = Explain.NOTHING;

        private Builder(Prompt prompt) {
            this.prompt = Objects.requireNonNull(prompt, "prompt");
        }

        private Builder(SelectRequest r) {
            partition = r.partition;
            selectionId = r.selectionId;
            prompt = r.prompt;
            override = r.override;
            expectedOutputTokens = r.expectedOutputTokens;
            priorityJump = r.priorityJump;
            strictPriority = r.strictPriority;
            session = r.session;
            affinityTarget = r.affinityTarget;
            pinnedWorker = r.pinnedWorker;
            pinOrigin = r.pinOrigin;
            allowedWorkerIds = r.allowedWorkerIds;
            excludedWorkerIds = r.excludedWorkerIds;
            constraints = r.constraints;
            mode = r.mode;
            queueing = r.queueing;
            policyClass = r.policyClass;
            deadlineTick = r.deadlineTick;
            recording = r.recording;
            explanation = r.explanation;
        }

        /** Default {@code default:default}. */
        public Builder partition(PartitionKey partition) {
            this.partition = partition;
            return this;
        }

        /** Default: none; a booking then gets a random UUID. */
        public Builder selectionId(@Nullable String selectionId) {
            this.selectionId = selectionId;
            return this;
        }

        public Builder prompt(Prompt prompt) {
            this.prompt = prompt;
            return this;
        }

        /** Default: nothing is overridden. */
        public Builder override(RouterConfigOverride override) {
            this.override = override;
            return this;
        }

        /** Default: unknown. */
        public Builder expectedOutputTokens(@Nullable Integer expectedOutputTokens) {
            this.expectedOutputTokens = expectedOutputTokens;
            return this;
        }

        /** Default 0. */
        public Builder priorityJump(double priorityJump) {
            this.priorityJump = priorityJump;
            return this;
        }

        /** Default 0. */
        public Builder strictPriority(int strictPriority) {
            this.strictPriority = strictPriority;
            return this;
        }

        /** Default: none. */
        public Builder session(@Nullable SessionContext session) {
            this.session = session;
            return this;
        }

        /** Default: none. */
        public Builder affinityTarget(@Nullable AffinityTarget affinityTarget) {
            this.affinityTarget = affinityTarget;
            return this;
        }

        /** A pin of the client's. Default: none. */
        public Builder pinnedWorker(@Nullable WorkerRank pinnedWorker) {
            this.pinnedWorker = pinnedWorker;
            this.pinOrigin = PinOrigin.CLIENT;
            return this;
        }

        /** A pin that the router chose itself, so that session handling goes on as without a pin. */
        public Builder pinnedByRouter(WorkerRank rank) {
            this.pinnedWorker = rank;
            this.pinOrigin = PinOrigin.ROUTER;
            return this;
        }

        /** Default: all. */
        public Builder allowedWorkerIds(@Nullable Set<Long> allowedWorkerIds) {
            this.allowedWorkerIds = allowedWorkerIds;
            return this;
        }

        /** Default: none. */
        public Builder excludedWorkerIds(Set<Long> excludedWorkerIds) {
            this.excludedWorkerIds = excludedWorkerIds;
            return this;
        }

        /** Default: none. */
        public Builder constraints(RoutingConstraints constraints) {
            this.constraints = constraints;
            return this;
        }

        /** Default {@link Mode#QUEUED}. */
        public Builder mode(Mode mode) {
            this.mode = mode;
            return this;
        }

        /** Default {@link Queueing#ALLOWED}. */
        public Builder queueing(Queueing queueing) {
            this.queueing = queueing;
            return this;
        }

        /** Default: none. */
        public Builder policyClass(@Nullable String policyClass) {
            this.policyClass = policyClass;
            return this;
        }

        /** An instant of the core's ticker, in nanoseconds. Default: none. */
        public Builder deadlineTick(@Nullable Long deadlineTick) {
            this.deadlineTick = deadlineTick;
            return this;
        }

        /** Default {@link Recording#RECORDED}. */
        public Builder recording(Recording recording) {
            this.recording = recording;
            return this;
        }

        /** Default {@link Explain#NOTHING}. */
        public Builder explanation(Explain explanation) {
            this.explanation = explanation;
            return this;
        }

        /** @throws BadRequestException naming the field */
        public SelectRequest build() {
            return new SelectRequest(
                    partition,
                    selectionId,
                    prompt,
                    override,
                    expectedOutputTokens,
                    priorityJump,
                    strictPriority,
                    session,
                    affinityTarget,
                    pinnedWorker,
                    pinOrigin,
                    allowedWorkerIds,
                    excludedWorkerIds,
                    constraints,
                    mode,
                    queueing,
                    policyClass,
                    deadlineTick,
                    recording,
                    explanation);
        }
    }
}
