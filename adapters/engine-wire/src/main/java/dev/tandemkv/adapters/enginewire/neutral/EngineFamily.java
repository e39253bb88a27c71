package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.indexer.DuplicatePolicy;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.SourceTraits.FullReports;

/** Whose events a source publishes. The bytes do not always tell, so the host says it. */
public enum EngineFamily {
    /** Announces every physical copy of a block, and its removal. */
    VLLM(DuplicatePolicy.COUNT_COPIES),
    /** Announces a block once. */
    SGLANG(DuplicatePolicy.IDEMPOTENT),
    /** Announces a block once. */
    TENSORRT_LLM(DuplicatePolicy.IDEMPOTENT),
    /** Treated in the way that can only under-count. */
    UNKNOWN(DuplicatePolicy.IDEMPOTENT);

    private final DuplicatePolicy duplicates;

    EngineFamily(DuplicatePolicy duplicates) {
        this.duplicates = duplicates;
    }

    /** What the index must know of a source of this family that may repeat held blocks from the root (vLLM from 0.26 on can). */
    public SourceTraits traits() {
        return traits(FullReports.POSSIBLE);
    }

    /**
     * What the index must know of a source of this family.
     *
     * @param fullReports {@link FullReports#NEVER} if the host knows that the engine never repeats held blocks from the root (vLLM before
     *     0.26, and later with that report mode off); matters only where copies are counted
     */
    public SourceTraits traits(FullReports fullReports) {
        return new SourceTraits(duplicates, fullReports);
    }
}
