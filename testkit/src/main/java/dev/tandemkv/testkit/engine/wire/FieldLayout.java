package dev.tandemkv.testkit.engine.wire;

import static dev.tandemkv.testkit.engine.wire.EventField.CACHE_SALT;
import static dev.tandemkv.testkit.engine.wire.EventField.EXTRA_KEYS;
import static dev.tandemkv.testkit.engine.wire.EventField.GROUP_IDX;
import static dev.tandemkv.testkit.engine.wire.EventField.LOCALITY;
import static dev.tandemkv.testkit.engine.wire.EventField.LOOKAHEAD_TOKEN_IDS;
import static dev.tandemkv.testkit.engine.wire.EventField.LORA_ID;
import static dev.tandemkv.testkit.engine.wire.EventField.LORA_NAME;
import static dev.tandemkv.testkit.engine.wire.EventField.MEDIUM;
import static dev.tandemkv.testkit.engine.wire.EventField.OWNERSHIP;
import static dev.tandemkv.testkit.engine.wire.EventField.SESSION_ID;
import static dev.tandemkv.testkit.engine.wire.EventField.SLIDING_WINDOW;
import static dev.tandemkv.testkit.engine.wire.EventField.SPEC_KIND;

import java.util.List;

/**
 * Which fields an event has in a dialect, and in which order, the core ones left out.
 *
 * @param always nil where unset
 * @param ifSet behind those, left out where unset
 */
record FieldLayout(List<EventField> always, List<EventField> ifSet) {

    static final FieldLayout NONE = new FieldLayout(List.of(), List.of());

    private static FieldLayout always(EventField... fields) {
        return new FieldLayout(List.of(fields), List.of());
    }

    private FieldLayout ifSet(EventField... fields) {
        return new FieldLayout(always, List.of(fields));
    }

    static FieldLayout ofStores(WireDialect dialect) {
        return switch (dialect) {
            case VLLM_0_9, SGLANG_0_4 -> always(LORA_ID);
            case VLLM_0_11, SGLANG_0_5_9 -> always(LORA_ID, MEDIUM);
            case VLLM_0_14 -> always(LORA_ID, MEDIUM, LORA_NAME);
            case VLLM_0_17 -> always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS);
            case VLLM_0_20 -> always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS, GROUP_IDX);
            case VLLM_0_22 -> always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW);
            case VLLM_0_24 ->
                always(LORA_ID, MEDIUM, LORA_NAME).ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW);
            case VLLM_0_26 ->
                always(LORA_ID, MEDIUM, LORA_NAME).ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW, LOCALITY);
            case VLLM_0_29 ->
                always(LORA_ID, MEDIUM, LORA_NAME)
                        .ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW, LOCALITY, OWNERSHIP);
            case VLLM_0_33 ->
                always(LORA_ID, MEDIUM, LORA_NAME)
                        .ifSet(
                                EXTRA_KEYS,
                                GROUP_IDX,
                                SPEC_KIND,
                                SLIDING_WINDOW,
                                LOCALITY,
                                OWNERSHIP,
                                SESSION_ID,
                                LOOKAHEAD_TOKEN_IDS);
            // A salted store has one element more.
            case SGLANG_0_5_18 -> always(LORA_ID, MEDIUM).ifSet(CACHE_SALT);
            case SGLANG_0_5_20 -> always(LORA_ID).ifSet(MEDIUM, CACHE_SALT, SESSION_ID);
            case SGLANG_0_5_22 -> always(LORA_ID).ifSet(MEDIUM, CACHE_SALT, SESSION_ID, LORA_NAME);
            case TENSORRT_LLM -> NONE;
        };
    }

    static FieldLayout ofRemovals(WireDialect dialect) {
        return switch (dialect) {
            case VLLM_0_9, SGLANG_0_4, TENSORRT_LLM -> NONE;
            case VLLM_0_11, VLLM_0_14, VLLM_0_17, SGLANG_0_5_9, SGLANG_0_5_18 -> always(MEDIUM);
            case VLLM_0_20, VLLM_0_22 -> always(MEDIUM, GROUP_IDX);
            case VLLM_0_24 -> always(MEDIUM).ifSet(GROUP_IDX);
            case VLLM_0_26 -> always(MEDIUM).ifSet(GROUP_IDX, LOCALITY);
            case VLLM_0_29, VLLM_0_33 -> always(MEDIUM).ifSet(GROUP_IDX, LOCALITY, OWNERSHIP);
            case SGLANG_0_5_20, SGLANG_0_5_22 -> NONE.ifSet(MEDIUM);
        };
    }

    boolean knows(EventField field) {
        return always.contains(field) || ifSet.contains(field);
    }

    int most() {
        return always.size() + ifSet.size();
    }
}
