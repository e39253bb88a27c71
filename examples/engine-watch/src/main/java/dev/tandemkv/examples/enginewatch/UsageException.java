package dev.tandemkv.examples.enginewatch;

import org.jspecify.annotations.Nullable;

/** An option has a value that makes no sense. The message names it. */
final class UsageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UsageException(String option, @Nullable Object value, String expected) {
        super(option + ": " + value + " (expected: " + expected + ")");
    }

    static void require(boolean holds, String option, @Nullable Object value, String expected) {
        if (!holds) {
            throw new UsageException(option, value, expected);
        }
    }
}
