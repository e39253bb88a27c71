package dev.tandemkv.testkit.trace;

import org.jspecify.annotations.Nullable;

/** Turns the lines of one file into requests, in order; keeps what one line has to be compared with the next by. Not thread-safe. */
interface LineParser {

    /**
     * Parses one line.
     *
     * @return {@code null} for a line that is no request, such as a header
     * @throws BadLine telling the field, its value and what was expected
     */
    @Nullable
    TraceRequest parse(String line) throws BadLine;

    static LineParser of(TraceFormat format) {
        return switch (format) {
            case MOONCAKE, BAILIAN -> new JsonLineParser(format);
            case AZURE -> new AzureLineParser();
        };
    }

    /** What is wrong with a line; the reader adds the place. */
    final class BadLine extends Exception {
        private static final long serialVersionUID = 1L;

        private final String problem;

        BadLine(String problem, @Nullable Throwable cause) {
            super(problem, cause);
            this.problem = problem;
        }

        static BadLine field(String field, Object value, String expected) {
            return new BadLine(field + ": " + value + " (expected: " + expected + ")", null);
        }

        String problem() {
            return problem;
        }
    }
}
