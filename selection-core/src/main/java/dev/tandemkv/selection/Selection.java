package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.explain.Explanation;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A decision: which rank serves the request, and what that was based on. Immutable; the array must not be changed.
 *
 * @param selectionId id of the booking or of the cached selection, or {@code null}
 * @param partition where it was chosen
 * @param worker the chosen rank
 * @param endpoint where to send the request; {@code null} only where the caller leases a rank without an endpoint
 * @param blockSize tokens of one block
 * @param overlap what the worker holds of the prompt
 * @param islTokens prompt length
 * @param cachedTokens {@code min(isl, weighted overlap x block size)}, fractions kept
 * @param effectivePrefillTokens tokens left to prefill: {@code isl - cached}, rounded half away from zero
 * @param potentialDecodeBlocks active blocks of the rank plus those of this request that are not active there, counted once
 * @param decodeBusy whether the configured decode threshold is passed; {@code null} if it or the capacity is unknown
 * @param workerLoad load of the rank; advisory selections only
 * @param sequenceHashes tracking hashes that were booked; empty unless booked
 * @param trackPrefillTokens whether prefill load was charged; meaningful for bookings only
 * @param kvHint where the rank can fetch what it lacks of the prompt, or {@code null}; bookings only
 * @param waitedNanos time spent in the queue
 * @param timings what hashing and lookups took
 * @param rung what the knowledge of caches rested on
 * @param explanation how it was decided, if the request asked; else {@code null}
 */
public record Selection(
        @Nullable String selectionId,
        PartitionKey partition,
        WorkerRank worker,
        @Nullable String endpoint,
        int blockSize,
        Overlap overlap,
        long islTokens,
        double cachedTokens,
        long effectivePrefillTokens,
        long potentialDecodeBlocks,
        @Nullable Boolean decodeBusy,
        @Nullable WorkerLoad workerLoad,
        long[] sequenceHashes,
        boolean trackPrefillTokens,
        @Nullable KvHint kvHint,
        long waitedNanos,
        LookupTimings timings,
        LadderRung rung,
        @Nullable Explanation explanation) {

    private static final long[] NO_HASHES = {};

    public Selection {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(worker, "worker");
        Objects.requireNonNull(overlap, "overlap");
        Objects.requireNonNull(sequenceHashes, "sequenceHashes");
        Objects.requireNonNull(timings, "timings");
        Objects.requireNonNull(rung, "rung");
    }

    public static Builder builder(PartitionKey partition, WorkerRank worker) {
        return new Builder(partition, worker);
    }

    /** Collects the components of a {@link Selection}; not thread-safe. */
    public static final class Builder {
        private final PartitionKey partition;
        private final WorkerRank worker;
        private @Nullable String selectionId;
        private @Nullable String endpoint;
        private int blockSize = 1;
        private Overlap overlap = Overlap.NONE;
        private long islTokens;
        private double cachedTokens;
        private long effectivePrefillTokens;
        private long potentialDecodeBlocks;
        private @Nullable Boolean decodeBusy;
        private @Nullable WorkerLoad workerLoad;
        private long[] sequenceHashes = NO_HASHES;
        private boolean trackPrefillTokens;
        private @Nullable KvHint kvHint;
        private long waitedNanos;
        private LookupTimings timings = LookupTimings.NONE;
        private LadderRung rung = LadderRung.EXACT_INDEX;
        private @Nullable Explanation explanation;

        private Builder(PartitionKey partition, WorkerRank worker) {
            this.partition = partition;
            this.worker = worker;
        }

        public Builder selectionId(@Nullable String selectionId) {
            this.selectionId = selectionId;
            return this;
        }

        public Builder endpoint(@Nullable String endpoint) {
            this.endpoint = endpoint;
            return this;
        }

        public Builder blockSize(int blockSize) {
            this.blockSize = blockSize;
            return this;
        }

        public Builder overlap(Overlap overlap) {
            this.overlap = overlap;
            return this;
        }

        public Builder islTokens(long islTokens) {
            this.islTokens = islTokens;
            return this;
        }

        public Builder cachedTokens(double cachedTokens) {
            this.cachedTokens = cachedTokens;
            return this;
        }

        public Builder effectivePrefillTokens(long effectivePrefillTokens) {
            this.effectivePrefillTokens = effectivePrefillTokens;
            return this;
        }

        public Builder potentialDecodeBlocks(long potentialDecodeBlocks) {
            this.potentialDecodeBlocks = potentialDecodeBlocks;
            return this;
        }

        public Builder decodeBusy(@Nullable Boolean decodeBusy) {
            this.decodeBusy = decodeBusy;
            return this;
        }

        public Builder workerLoad(@Nullable WorkerLoad workerLoad) {
            this.workerLoad = workerLoad;
            return this;
        }

        public Builder sequenceHashes(long[] sequenceHashes) {
            this.sequenceHashes = sequenceHashes;
            return this;
        }

        public Builder trackPrefillTokens(boolean trackPrefillTokens) {
            this.trackPrefillTokens = trackPrefillTokens;
            return this;
        }

        public Builder kvHint(@Nullable KvHint kvHint) {
            this.kvHint = kvHint;
            return this;
        }

        public Builder waitedNanos(long waitedNanos) {
            this.waitedNanos = waitedNanos;
            return this;
        }

        /** Default {@link LookupTimings#NONE}. */
        public Builder timings(LookupTimings timings) {
            this.timings = timings;
            return this;
        }

        /** Default {@link LadderRung#EXACT_INDEX}. */
        public Builder rung(LadderRung rung) {
            this.rung = rung;
            return this;
        }

        public Builder explanation(@Nullable Explanation explanation) {
            this.explanation = explanation;
            return this;
        }

        public Selection build() {
            return new Selection(
                    selectionId,
                    partition,
                    worker,
                    endpoint,
                    blockSize,
                    overlap,
                    islTokens,
                    cachedTokens,
                    effectivePrefillTokens,
                    potentialDecodeBlocks,
                    decodeBusy,
                    workerLoad,
                    sequenceHashes,
                    trackPrefillTokens,
                    kvHint,
                    waitedNanos,
                    timings,
                    rung,
                    explanation);
        }
    }
}
