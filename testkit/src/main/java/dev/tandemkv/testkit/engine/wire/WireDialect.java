package dev.tandemkv.testkit.engine.wire;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a family of releases writes its events: as arrays or as maps, which fields in which order, and how many frames a replayed batch has.
 * Named after the first release known to do it so. Every one but {@link #VLLM_0_14}, {@link #VLLM_0_20}, {@link #VLLM_0_29} and
 * {@link #TENSORRT_LLM} is checked against captured bytes of its releases; {@code TENSORRT_LLM} is the publisher in front of that engine,
 * by reading alone.
 */
public enum WireDialect {
    VLLM_0_9("vllm", "0.9", Form.ARRAY, 3),
    VLLM_0_11("vllm", "0.11", Form.ARRAY, 3),
    VLLM_0_14("vllm", "0.14", Form.ARRAY, 3),
    VLLM_0_17("vllm", "0.17", Form.ARRAY, 3),
    VLLM_0_20("vllm", "0.20", Form.ARRAY, 3),
    VLLM_0_22("vllm", "0.22", Form.ARRAY, 3),
    VLLM_0_24("vllm", "0.24", Form.MAP, 3),
    VLLM_0_26("vllm", "0.26", Form.MAP, 4),
    VLLM_0_29("vllm", "0.29", Form.MAP, 4),
    VLLM_0_33("vllm", "0.33", Form.MAP, 4),
    SGLANG_0_4("sglang", "0.4", Form.ARRAY, 3),
    SGLANG_0_5_9("sglang", "0.5.9", Form.ARRAY, 3),
    SGLANG_0_5_18("sglang", "0.5.18", Form.ARRAY, 3),
    SGLANG_0_5_20("sglang", "0.5.20", Form.MAP, 3),
    SGLANG_0_5_22("sglang", "0.5.22", Form.MAP, 4),
    TENSORRT_LLM("tensorrt-llm", "0", Form.MAP, 4);

    /** How an event is laid out. */
    enum Form {
        /** Tag and fields by position. */
        ARRAY,
        /** Tag and fields by name. */
        MAP
    }

    private final String engine;
    private final String since;
    private final Form form;
    private final int replayFrames;

    WireDialect(String engine, String since, Form form, int replayFrames) {
        this.engine = engine;
        this.since = since;
        this.form = form;
        this.replayFrames = replayFrames;
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
}
