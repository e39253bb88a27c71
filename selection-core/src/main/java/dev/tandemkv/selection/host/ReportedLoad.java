package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * The load that workers report of themselves. Where a rank has a report, its load is that report and what was booked here since; where it
 * has none, its load is what is booked here. Asked for each candidate, inside the partition step.
 */
@FunctionalInterface
public interface ReportedLoad {

    /** The rank's last report, or {@code null} if there is none. */
    @Nullable
    Report lastReport(WorkerRank rank);

    /**
     * What a worker said.
     *
     * @param activePrefillTokens tokens waiting for prefill
     * @param activeDecodeBlocks KV blocks in use
     * @param activeRequests requests in it
     * @param atTick when, on the core's ticker
     */
    record Report(long activePrefillTokens, long activeDecodeBlocks, int activeRequests, long atTick) {

        public Report {
            if (activePrefillTokens < 0 || activeDecodeBlocks < 0 || activeRequests < 0) {
                throw new IllegalArgumentException("report: " + activePrefillTokens + " tokens, " + activeDecodeBlocks
                        + " blocks, " + activeRequests + " requests (expected: none below 0)");
            }
        }
    }
}
