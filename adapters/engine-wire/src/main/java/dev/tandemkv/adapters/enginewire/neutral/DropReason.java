package dev.tandemkv.adapters.enginewire.neutral;

/** Why an event, or a part of it, did not reach the index. */
public enum DropReason {
    /** The publisher's no-op. */
    IGNORED_EVENT("ignored_event"),
    /** A tag that the decoder does not know. */
    UNKNOWN_TAG("unknown_tag"),
    /** A store that says only that hashes exist: no tokens, no place in a chain. */
    PLACEHOLDER_STORE("placeholder_store"),
    /** A child of a block that was seen under two namespaces. */
    AMBIGUOUS_CACHE_NAMESPACE("ambiguous_cache_namespace"),
    /** A cache group whose kind is not the model's main attention. */
    NON_MAIN_ATTENTION_KIND("non_main_attention_kind"),
    /** A kind of cache group that is not known here. */
    UNKNOWN_KIND("unknown_kind"),
    /** An event without a kind, of a group that an earlier store named as not the main attention. */
    NON_MAIN_ATTENTION_GROUP("non_main_attention_group"),
    /** An event without a kind, of a group other than 0 that no store named. */
    UNLEARNED_GROUP_IDX("unlearned_group_idx"),
    /** An attention window other than the largest (TensorRT-LLM). */
    OTHER_WINDOW("other_window"),
    /** A medium that is not known here. */
    UNKNOWN_MEDIUM("unknown_medium"),
    /** A cache that is not the worker's own. */
    REMOTE_LOCALITY("remote_locality"),
    /** One block hash twice in an event, the parent's included. An empty removal takes the event's place. */
    DUPLICATE_HASH("duplicate_hash"),
    /** Another block size than the partition's. An empty store takes the event's place. */
    CONFLICTING_BLOCK_SIZE("conflicting_block_size"),
    /** Another number of look-ahead tokens than the partition's. An empty store takes the event's place. */
    CONFLICTING_LOOKAHEAD("conflicting_lookahead"),
    /** Fewer hashes than blocks of tokens, so which tokens belong to which is unknown. An empty store takes the event's place. */
    HASH_TOKEN_MISMATCH("hash_token_mismatch"),
    /** More hashes than blocks of tokens, or a block with too few look-ahead tokens: the blocks before it are kept. */
    SHORT_TOKEN_LIST("short_token_list");

    private final String label;

    DropReason(String label) {
        this.label = label;
    }

    /** The name in metrics and logs. */
    public String label() {
        return label;
    }
}
