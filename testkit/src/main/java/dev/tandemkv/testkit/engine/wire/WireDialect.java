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

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a family of releases writes its events: as arrays or as maps, which fields in which order, and how many frames a replayed batch has.
 * Named after the first release known to do it so. Every one but {@link #VLLM_0_14}, {@link #VLLM_0_20}, {@link #VLLM_0_29} and
 * {@link #TENSORRT_LLM} is checked against captured bytes of its releases; {@code TENSORRT_LLM} is the publisher in front of that engine,
 * by reading alone.
 */
public enum WireDialect {
    VLLM_0_9("vllm", "0.9", Form.ARRAY, 3, store().always(LORA_ID), removal()),
    VLLM_0_11(
            "vllm",
            "0.11",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM),
            removal().always(MEDIUM)),
    VLLM_0_14(
            "vllm",
            "0.14",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM, LORA_NAME),
            removal().always(MEDIUM)),
    VLLM_0_17(
            "vllm",
            "0.17",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS),
            removal().always(MEDIUM)),
    VLLM_0_20(
            "vllm",
            "0.20",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS, GROUP_IDX),
            removal().always(MEDIUM, GROUP_IDX)),
    VLLM_0_22(
            "vllm",
            "0.22",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM, LORA_NAME, EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW),
            removal().always(MEDIUM, GROUP_IDX)),
    VLLM_0_24(
            "vllm",
            "0.24",
            Form.MAP,
            3,
            store().always(LORA_ID, MEDIUM, LORA_NAME).ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW),
            removal().always(MEDIUM).ifSet(GROUP_IDX)),
    VLLM_0_26(
            "vllm",
            "0.26",
            Form.MAP,
            4,
            store().always(LORA_ID, MEDIUM, LORA_NAME)
                    .ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW, LOCALITY),
            removal().always(MEDIUM).ifSet(GROUP_IDX, LOCALITY)),
    VLLM_0_29(
            "vllm",
            "0.29",
            Form.MAP,
            4,
            store().always(LORA_ID, MEDIUM, LORA_NAME)
                    .ifSet(EXTRA_KEYS, GROUP_IDX, SPEC_KIND, SLIDING_WINDOW, LOCALITY, OWNERSHIP),
            removal().always(MEDIUM).ifSet(GROUP_IDX, LOCALITY, OWNERSHIP)),
    VLLM_0_33(
            "vllm",
            "0.33",
            Form.MAP,
            4,
            store().always(LORA_ID, MEDIUM, LORA_NAME)
                    .ifSet(
                            EXTRA_KEYS,
                            GROUP_IDX,
                            SPEC_KIND,
                            SLIDING_WINDOW,
                            LOCALITY,
                            OWNERSHIP,
                            SESSION_ID,
                            LOOKAHEAD_TOKEN_IDS),
            removal().always(MEDIUM).ifSet(GROUP_IDX, LOCALITY, OWNERSHIP)),
    SGLANG_0_4("sglang", "0.4", Form.ARRAY, 3, store().always(LORA_ID), removal()),
    SGLANG_0_5_9(
            "sglang",
            "0.5.9",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM),
            removal().always(MEDIUM)),
    /** A salted store has one element more. */
    SGLANG_0_5_18(
            "sglang",
            "0.5.18",
            Form.ARRAY,
            3,
            store().always(LORA_ID, MEDIUM).ifSet(CACHE_SALT),
            removal().always(MEDIUM)),
    SGLANG_0_5_20(
            "sglang",
            "0.5.20",
            Form.MAP,
            3,
            store().always(LORA_ID).ifSet(MEDIUM, CACHE_SALT, SESSION_ID),
            removal().ifSet(MEDIUM)),
    SGLANG_0_5_22(
            "sglang",
            "0.5.22",
            Form.MAP,
            4,
            store().always(LORA_ID).ifSet(MEDIUM, CACHE_SALT, SESSION_ID, LORA_NAME),
            removal().ifSet(MEDIUM)),
    TENSORRT_LLM("tensorrt-llm", "0", Form.MAP, 4, store(), removal());

    /** How an event is laid out. */
    enum Form {
        /** Tag and fields by position. */
        ARRAY,
        /** Tag and fields by name. */
        MAP
    }

    /** Fields of an event in their order, the core ones left out: those that are nil where unset, then those that are left out. */
    record Layout(List<EventField> always, List<EventField> ifSet) {
        static final Layout NONE = new Layout(List.of(), List.of());

        Layout always(EventField... fields) {
            return new Layout(List.of(fields), ifSet);
        }

        Layout ifSet(EventField... fields) {
            return new Layout(always, List.of(fields));
        }

        boolean knows(EventField field) {
            return always.contains(field) || ifSet.contains(field);
        }
    }

    private static Layout store() {
        return Layout.NONE;
    }

    private static Layout removal() {
        return Layout.NONE;
    }

    private final String engine;
    private final String since;
    private final Form form;
    private final int replayFrames;
    private final Layout stored;
    private final Layout removed;

    WireDialect(String engine, String since, Form form, int replayFrames, Layout stored, Layout removed) {
        this.engine = engine;
        this.since = since;
        this.form = form;
        this.replayFrames = replayFrames;
        this.stored = stored;
        this.removed = removed;
    }

    /**
     * The dialect of a release.
     *
     * @param engine {@code vllm}, {@code sglang} or {@code tensorrt-llm}
     * @param version numbers separated by dots
     * @throws IllegalArgumentException if the engine is unknown, the version is none, or older than the oldest known
     */
    public static WireDialect of(String engine, String version) {
        int[] wanted = numbers(version);
        return ofEngine(engine)
                .filter(dialect -> Arrays.compare(numbers(dialect.since), wanted) <= 0)
                .max(Comparator.comparing(dialect -> numbers(dialect.since), Arrays::compare))
                .orElseThrow(() -> new IllegalArgumentException("release: " + engine + ' ' + version + " (expected: "
                        + Arrays.stream(values())
                                .map(dialect -> dialect.engine + ' ' + dialect.since)
                                .collect(Collectors.joining(", "))
                        + " or later)"));
    }

    private static Stream<WireDialect> ofEngine(String engine) {
        return Arrays.stream(values()).filter(dialect -> dialect.engine.equals(engine));
    }

    private static int[] numbers(String version) {
        try {
            return Arrays.stream(version.split("\\."))
                    .mapToInt(Integer::parseInt)
                    .toArray();
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("version: " + version + " (expected: numbers, as in 0.33.0)", e);
        }
    }

    /** The engine: {@code vllm}, {@code sglang} or {@code tensorrt-llm}. */
    public String engine() {
        return engine;
    }

    /** Whether block hashes are signed where they are integers. */
    public boolean signedHashes() {
        return this == VLLM_0_9 || !engine.equals("vllm");
    }

    Form form() {
        return form;
    }

    int replayFrames() {
        return replayFrames;
    }

    Layout stored() {
        return stored;
    }

    Layout removed() {
        return removed;
    }
}
