package dev.tandemkv.indexer;

/** What a repeated store of a held block means. It belongs to the event source (the engine family), not to the index. */
public enum DuplicatePolicy {
    /** A block is held or not; one removal ends it. SGLang, and the default for an unknown family: it can only under-count. */
    IDEMPOTENT,
    /** Each announced physical copy counts, and the block stays until its last counted copy is removed. vLLM. */
    COUNT_COPIES
}
