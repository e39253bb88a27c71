package dev.tandemkv.testkit.trace;

import org.jspecify.annotations.Nullable;

/** The file formats that {@link TraceReader} knows. */
public enum TraceFormat {
    /**
     * Mooncake: JSON Lines with {@code timestamp} (ms), {@code input_length}, {@code output_length} and {@code hash_ids} of 512-token
     * blocks, {@code ceil(input_length / 512)} of them. As the Dynamo tools do, {@code delay} (ms since the request before) is taken for
     * {@code timestamp}, and {@code input_length} may be absent: then every block counts as full.
     */
    MOONCAKE(512),
    /** Azure: CSV with the columns {@code TIMESTAMP,ContextTokens,GeneratedTokens}; no blocks. Further columns are passed over. */
    AZURE(0),
    /**
     * Alibaba Bailian: JSON Lines with {@code timestamp} (seconds), {@code input_length}, {@code output_length}, {@code hash_ids} of
     * 16-token blocks, and the turn: {@code chat_id}, {@code parent_chat_id}, {@code turn}, {@code type}.
     */
    BAILIAN(16);

    private final int blockTokens;

    TraceFormat(int blockTokens) {
        this.blockTokens = blockTokens;
    }

    /** Tokens of one block; 0 where the format knows none. */
    public int blockTokens() {
        return blockTokens;
    }

    /** Guesses by the first line: a CSV header, a conversation's id, or neither. */
    static TraceFormat of(@Nullable String firstLine) {
        if (firstLine == null) {
            return MOONCAKE;
        }
        if (firstLine.regionMatches(true, 0, "TIMESTAMP,", 0, 10)) {
            return AZURE;
        }
        return firstLine.contains("\"chat_id\"") ? BAILIAN : MOONCAKE;
    }
}
