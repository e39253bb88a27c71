package dev.tandemkv.testkit.trace;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A trace that cannot be read: which file, which line, and what is wrong with it. Nothing of that trace was delivered. */
public final class TraceFormatException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String source;
    private final int line;
    private final String problem;

    TraceFormatException(String source, int line, String problem, @Nullable Throwable cause) {
        super(source + ":" + line + ": " + problem, cause);
        this.source = source;
        this.line = line;
        this.problem = problem;
    }

    /** The file, as it was named by the caller. */
    public String source() {
        return source;
    }

    /** The line, counted from 1. */
    public int line() {
        return line;
    }

    /** What is wrong, without the place. */
    public String problem() {
        return problem;
    }
}
