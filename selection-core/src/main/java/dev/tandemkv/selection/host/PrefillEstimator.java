package dev.tandemkv.selection.host;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a prefill should take. Asked once per booking, inside the partition step. An answer of {@code null}, or an exception, leaves the
 * booking without an expected duration.
 */
@FunctionalInterface
public interface PrefillEstimator {

    /**
     * @param batch requests of the batch; 1
     * @param effectiveTokens tokens to prefill; at least 1
     * @param prefixTokens tokens before them that are cached
     */
    @Nullable
    Duration estimate(int batch, long effectiveTokens, long prefixTokens);
}
