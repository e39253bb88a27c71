package dev.tandemkv.selection.policy;

import dev.tandemkv.selection.SelectRequest;
import java.util.Objects;

/**
 * The request as a policy sees it. A policy must not keep it.
 *
 * @param request what was asked: session, affinity target, expected output, priorities, per-request overrides
 * @param blockSize tokens of one block
 * @param tracksPrefill whether prefill load counts for this request
 */
public record PolicyContext(SelectRequest request, int blockSize, boolean tracksPrefill) {

    public PolicyContext {
        Objects.requireNonNull(request, "request");
        if (blockSize < 1) {
            throw new IllegalArgumentException("blockSize: " + blockSize + " (expected: >= 1)");
        }
    }

    /** Prompt length in tokens. */
    public long islTokens() {
        return request.prompt().islTokens();
    }

    /** {@code ceil(isl / block size)}. */
    public long requestBlocks() {
        long isl = islTokens();
        return isl / blockSize + (isl % blockSize == 0 ? 0 : 1);
    }
}
