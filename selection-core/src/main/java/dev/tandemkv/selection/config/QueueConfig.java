package dev.tandemkv.selection.config;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * When requests wait. Without a threshold nobody does.
 *
 * @param threshold prefill load, as a fraction of {@code max_num_batched_tokens}, above which a rank is busy; at least 0; {@code null}
 *     turns queueing off (the default)
 * @param policy order inside the one class that exists without profiles; default {@link QueuePolicy#FCFS}
 * @param profiles classes by model; replaces {@code threshold} and {@code policy} where it says more
 * @param refreshAfter the index is asked again for a request that waited longer; 0 never; default 10 s
 * @param recheckInterval how often waiting requests are looked at without another cause; default 60 s, or 100 ms where a prefill model runs
 * @param maxOvertakes how many later requests of a higher tier may go before a waiting one; at least 0; default 16
 * @param noWorkers what waiting requests do while there is no worker; default {@link NoWorkers#WAIT}
 */
public record QueueConfig(
        @Nullable Double threshold,
        QueuePolicy policy,
        QueueProfiles profiles,
        Duration refreshAfter,
        Duration recheckInterval,
        int maxOvertakes,
        NoWorkers noWorkers) {

    /** What waiting requests do while there is no worker. */
    public enum NoWorkers {
        WAIT,
        /** They end {@code NOT_READY}. */
        FAIL
    }

    public QueueConfig {
        Check.from0("router_queue_threshold", threshold);
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(profiles, "profiles");
        Check.notNegative("overlap_refresh_after_secs", refreshAfter);
        Check.positive("queue_recheck_interval_secs", recheckInterval);
        Check.atLeast("queue_max_overtakes", maxOvertakes, 0);
        Objects.requireNonNull(noWorkers, "noWorkers");
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        @Nullable
        Double threshold;

        QueuePolicy policy = QueuePolicy.FCFS;
        QueueProfiles profiles = QueueProfiles.NONE;
        Duration refreshAfter = Duration.ofSeconds(10);

        @Nullable
        Duration recheckInterval;

        int maxOvertakes = 16;
        NoWorkers noWorkers = NoWorkers.WAIT;

        Draft() {}

        Draft(QueueConfig c) {
            threshold = c.threshold();
            policy = c.policy();
            profiles = c.profiles();
            refreshAfter = c.refreshAfter();
            recheckInterval = c.recheckInterval();
            maxOvertakes = c.maxOvertakes();
            noWorkers = c.noWorkers();
        }

        /** @param recheck the interval where none was given */
        QueueConfig build(Duration recheck) {
            return new QueueConfig(
                    threshold,
                    policy,
                    profiles,
                    refreshAfter,
                    recheckInterval == null ? recheck : recheckInterval,
                    maxOvertakes,
                    noWorkers);
        }
    }
}
