package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that are not what an engine sends; nothing was changed. Kind {@link SelectionException.Kind#BAD_REQUEST}.
 *
 * <p>The facts say where reading stopped and why. They never contain token ids, hashes or text of the payload.
 */
public final class WireFormatException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** What is wrong with the bytes. */
    public enum Problem {
        /** They end inside a value. */
        TRUNCATED,
        /** They go on behind the last value. */
        TRAILING_BYTES,
        /** Not MessagePack at all, or text that is not UTF-8. */
        MALFORMED,
        /** A value of another type than the field has. */
        WRONG_TYPE,
        /** A number that the field cannot hold. */
        OUT_OF_RANGE,
        /** A required field is absent. */
        MISSING_FIELD,
        /** A length, count or depth beyond a limit of {@link WireLimits}. */
        LIMIT_EXCEEDED,
        /** A message with another number of frames, or a sequence frame of another length. */
        FRAMES
    }

    private final Problem problem;
    private final String field;
    private final int offset;

    /**
     * @param problem what is wrong
     * @param field the field that was being read, as the engine names it
     * @param offset byte position in the payload (or frame) at which reading stopped
     * @param found what was found there: a type, a count, never content
     * @param expected what would have been accepted
     */
    public WireFormatException(Problem problem, String field, int offset, String found, String expected) {
        this(problem, field, offset, found, expected, null);
    }

    WireFormatException(
            Problem problem, String field, int offset, String found, String expected, @Nullable Throwable cause) {
        super(
                Kind.BAD_REQUEST,
                field + ": " + found + " (expected: " + expected + ") at byte " + offset + ", " + problem,
                cause);
        this.problem = Objects.requireNonNull(problem, "problem");
        this.field = field;
        this.offset = offset;
    }

    public Problem problem() {
        return problem;
    }

    /** The field that was being read, as the engine names it. */
    public String field() {
        return field;
    }

    /** Byte position at which reading stopped. */
    public int offset() {
        return offset;
    }
}
