package dev.tandemkv.testkit.trace;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request of a trace. Immutable by contract: the array is not copied, and nobody may change it.
 *
 * @param arrivalNanos when it arrives, from the start of the trace
 * @param inputTokens prompt length; at least 1
 * @param outputTokens tokens generated; 0 is served as 1, since a prefill always yields one
 * @param blockIds one id per block of the prompt, prefix-chained: an equal id after equal ids is the same block. The last one may stand
 *     for a partial block; empty where the trace knows no blocks
 * @param turn where the request stands in its conversation, or {@code null} where the trace does not tell
 */
public record TraceRequest(
        long arrivalNanos,
        int inputTokens,
        int outputTokens,
        long[] blockIds,
        @Nullable ChatTurn turn) {

    /**
     * A conversation's turn, as the Bailian traces link them.
     *
     * @param chatId the request's own id
     * @param parentChatId the id of the turn before, or -1
     * @param turn its number, 1 for the first
     * @param type kind of request, in the publisher's words
     */
    public record ChatTurn(long chatId, long parentChatId, int turn, String type) {

        public ChatTurn {
            Objects.requireNonNull(type, "type");
        }
    }

    /** @throws IllegalArgumentException naming the field */
    public TraceRequest {
        require("arrivalNanos", arrivalNanos, 0);
        require("inputTokens", inputTokens, 1);
        require("outputTokens", outputTokens, 0);
        Objects.requireNonNull(blockIds, "blockIds");
    }

    private static void require(String field, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= " + least + ")");
        }
    }

    /** The same request at another time. */
    public TraceRequest at(long newArrivalNanos) {
        return new TraceRequest(newArrivalNanos, inputTokens, outputTokens, blockIds, turn);
    }

    /** The same request over other blocks. */
    public TraceRequest over(long[] newBlockIds) {
        return new TraceRequest(arrivalNanos, inputTokens, outputTokens, newBlockIds, turn);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof TraceRequest other
                && arrivalNanos == other.arrivalNanos
                && inputTokens == other.inputTokens
                && outputTokens == other.outputTokens
                && Arrays.equals(blockIds, other.blockIds)
                && Objects.equals(turn, other.turn);
    }

    @Override
    public int hashCode() {
        return Objects.hash(arrivalNanos, inputTokens, outputTokens, Arrays.hashCode(blockIds), turn);
    }
}
