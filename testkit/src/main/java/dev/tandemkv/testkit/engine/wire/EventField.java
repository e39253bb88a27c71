package dev.tandemkv.testkit.engine.wire;

import java.util.List;

/** What a store or removal can say beside its hashes, tokens and block size, under its name on the wire. */
public enum EventField {
    /** Deprecated number of an adapter; an {@link Integer} or {@link Long}. */
    LORA_ID("lora_id", Number.class),
    /** Where the blocks lie. */
    MEDIUM("medium", String.class),
    LORA_NAME("lora_name", String.class),
    /** SGLang's salt; positional releases put it into a map. */
    CACHE_SALT("cache_salt", String.class),
    /** Per block {@code null} or a list of texts, numbers, truth values, bytes, and lists of identifier and offset. */
    EXTRA_KEYS("extra_keys", List.class),
    GROUP_IDX("group_idx", Number.class),
    SPEC_KIND("kv_cache_spec_kind", String.class),
    SLIDING_WINDOW("kv_cache_spec_sliding_window", Number.class),
    LOCALITY("locality", String.class),
    OWNERSHIP("ownership", String.class),
    SESSION_ID("session_id", String.class),
    /** Per block a list of token ids. */
    LOOKAHEAD_TOKEN_IDS("lookahead_token_ids", List.class);

    private final String wireName;
    private final Class<?> type;

    EventField(String wireName, Class<?> type) {
        this.wireName = wireName;
        this.type = type;
    }

    /** The key in a map. */
    public String wireName() {
        return wireName;
    }

    void check(Object value) {
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException(
                    wireName + ": " + value.getClass().getSimpleName() + " (expected: " + type.getSimpleName() + ")");
        }
    }
}
