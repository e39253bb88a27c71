package dev.tandemkv.testkit.trace;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** The Azure LLM inference CSV files: a header, then time, prompt length, output length. Times become relative to the first. */
final class AzureLineParser implements LineParser {

    private static final long[] NO_BLOCKS = {};
    private static final String HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";

    /** Text without a zone in the files of 2023, with one in later files; the fraction has 7 digits or none. */
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .appendPattern("uuuu-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .appendPattern("[XXX]")
            .toFormatter()
            .withResolverStyle(ResolverStyle.STRICT);

    private boolean headerSeen;
    private @Nullable LocalDateTime start;
    private long lastArrival;

    @Override
    public @Nullable TraceRequest parse(String line) throws BadLine {
        if (!headerSeen) {
            headerSeen = true;
            if (!line.regionMatches(true, 0, HEADER, 0, HEADER.length())) {
                throw BadLine.field("header", quoted(line), HEADER);
            }
            return null;
        }
        String[] cells = line.split(",", -1);
        if (cells.length < 3) {
            throw BadLine.field("columns", cells.length, "at least 3: " + HEADER);
        }
        long arrival = arrival(cells[0].trim());
        int input = count("ContextTokens", cells[1], 1);
        int output = count("GeneratedTokens", cells[2], 0);
        lastArrival = arrival;
        return new TraceRequest(arrival, input, output, NO_BLOCKS, null);
    }

    private long arrival(String text) throws BadLine {
        LocalDateTime time;
        try {
            time = LocalDateTime.parse(text, TIMESTAMP);
        } catch (DateTimeException e) {
            throw BadLine.field("TIMESTAMP", quoted(text), "yyyy-MM-dd HH:mm:ss.fffffff");
        }
        if (start == null) {
            start = time;
        }
        long arrival = ChronoUnit.NANOS.between(start, time);
        if (arrival < lastArrival) {
            throw BadLine.field("TIMESTAMP", quoted(text), "not before the line above");
        }
        return arrival;
    }

    private static int count(String field, String cell, int least) throws BadLine {
        try {
            int value = Integer.parseInt(cell.trim());
            if (value >= least) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through: the same complaint as for a number out of range.
        }
        throw BadLine.field(field, quoted(cell.trim()), "an integer >= " + least);
    }

    private static String quoted(String text) {
        return '"' + (text.length() > 80 ? text.substring(0, 80) + "..." : text) + '"';
    }
}
