package dev.tandemkv.selection.config;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One class of waiting requests.
 *
 * @param name letters, digits, {@code _ . -}
 * @param policyFamily with {@code cacheBucket}: requests of this family whose uncached length lies in that bucket; both or neither
 * @param cacheBucket see {@code policyFamily}
 * @param queuePolicy order inside the class; a file may not say {@link QueuePolicy#LCFS}
 * @param quantum credit of one round of deficit round robin, in uncached tokens; above 0
 * @param prefillBusyThreshold a rank with more active prefill tokens is busy, or {@code null}
 * @param prefillBusyThresholdFrac a rank with more than this fraction of {@code max_num_batched_tokens} is busy, or {@code null}
 * @param busyWorkerRatio the pool is busy when this share of the eligible ranks is; above 0, at most 1; {@code null} means all. It
 *     needs a threshold
 * @param limits how much may wait
 */
public record QueueClass(
        String name,
        @Nullable String policyFamily,
        @Nullable String cacheBucket,
        QueuePolicy queuePolicy,
        long quantum,
        @Nullable Long prefillBusyThreshold,
        @Nullable Double prefillBusyThresholdFrac,
        @Nullable Double busyWorkerRatio,
        Limits limits) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]+");

    /**
     * Most that may wait, each per present worker; {@code null} is unlimited.
     *
     * @param requests waiting requests
     * @param rawIslTokens their prompt tokens
     * @param cachedTokens their cached tokens
     */
    public record Limits(
            @Nullable Long requests,
            @Nullable Long rawIslTokens,
            @Nullable Long cachedTokens) {

        public static final Limits NONE = new Limits(null, null, null);

        public Limits {
            requireFrom0("request_queue_limit_per_worker", requests);
            requireFrom0("raw_isl_token_queue_limit_per_worker", rawIslTokens);
            requireFrom0("cached_token_queue_limit_per_worker", cachedTokens);
        }

        private static void requireFrom0(String field, @Nullable Long value) {
            if (value != null) {
                Check.atLeast(field, value, 0);
            }
        }
    }

    public QueueClass {
        if (!NAME.matcher(name).matches()) {
            throw new BadRequestException("name", name, "[A-Za-z0-9_.-]+");
        }
        Check.that(
                (policyFamily == null) == (cacheBucket == null),
                "policy_family",
                String.valueOf(policyFamily),
                "policy_family and cache_bucket both or neither");
        Objects.requireNonNull(queuePolicy, "queuePolicy");
        Check.atLeast("quantum", quantum, 1);
        if (prefillBusyThreshold != null) {
            Check.atLeast("prefill_busy_threshold", prefillBusyThreshold, 0);
        }
        Check.from0("prefill_busy_threshold_frac", prefillBusyThresholdFrac);
        if (busyWorkerRatio != null) {
            Check.that(busyWorkerRatio > 0 && busyWorkerRatio <= 1, "busy_worker_ratio", busyWorkerRatio, "> 0, <= 1");
            Check.that(
                    prefillBusyThreshold != null || prefillBusyThresholdFrac != null,
                    "busy_worker_ratio",
                    busyWorkerRatio,
                    "none without a prefill_busy_threshold");
        }
        Objects.requireNonNull(limits, "limits");
    }

    /** A class without family, thresholds and limits: first come, first served, quantum 1. */
    public static QueueClass named(String name) {
        return new QueueClass(name, null, null, QueuePolicy.FCFS, 1, null, null, null, Limits.NONE);
    }

    /** Whether requests of this class ever wait. */
    public boolean queues() {
        return prefillBusyThreshold != null || prefillBusyThresholdFrac != null;
    }

    public QueueClass withPolicy(QueuePolicy policy) {
        return new QueueClass(
                name,
                policyFamily,
                cacheBucket,
                policy,
                quantum,
                prefillBusyThreshold,
                prefillBusyThresholdFrac,
                busyWorkerRatio,
                limits);
    }

    public QueueClass withQuantum(long tokens) {
        return new QueueClass(
                name,
                policyFamily,
                cacheBucket,
                queuePolicy,
                tokens,
                prefillBusyThreshold,
                prefillBusyThresholdFrac,
                busyWorkerRatio,
                limits);
    }

    public QueueClass withBucket(String family, String bucket) {
        return new QueueClass(
                name,
                family,
                bucket,
                queuePolicy,
                quantum,
                prefillBusyThreshold,
                prefillBusyThresholdFrac,
                busyWorkerRatio,
                limits);
    }

    /** A rank is busy above so many active prefill tokens, or above this fraction of its batch. */
    public QueueClass withBusyThresholds(@Nullable Long tokens, @Nullable Double fraction) {
        return new QueueClass(
                name, policyFamily, cacheBucket, queuePolicy, quantum, tokens, fraction, busyWorkerRatio, limits);
    }

    public QueueClass withBusyWorkerRatio(@Nullable Double ratio) {
        return new QueueClass(
                name,
                policyFamily,
                cacheBucket,
                queuePolicy,
                quantum,
                prefillBusyThreshold,
                prefillBusyThresholdFrac,
                ratio,
                limits);
    }

    public QueueClass withLimits(Limits newLimits) {
        return new QueueClass(
                name,
                policyFamily,
                cacheBucket,
                queuePolicy,
                quantum,
                prefillBusyThreshold,
                prefillBusyThresholdFrac,
                busyWorkerRatio,
                newLimits);
    }
}
