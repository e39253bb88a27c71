package dev.tandemkv.testkit.trace;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads traces, gzip or plain, whole or not at all: the first line that is wrong ends the reading with a {@link TraceFormatException} that
 * names it. Stateless and thread-safe; blocks on the input.
 *
 * <pre>{@code
 * Trace trace = TraceReader.read(Path.of("conversation_trace.jsonl.gz"));
 * }</pre>
 */
public final class TraceReader {

    private TraceReader() {}

    /**
     * Reads a file in the format that its first line shows.
     *
     * @throws TraceFormatException if a line is wrong, or there is none
     * @throws IOException if the file cannot be read
     */
    public static Trace read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return read(file.toString(), nameOf(file), null, in);
        }
    }

    /** As {@link #read(Path)}, in a given format. */
    public static Trace read(Path file, TraceFormat format) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return read(file.toString(), nameOf(file), format, in);
        }
    }

    /**
     * Reads a stream to its end and leaves it open.
     *
     * @param source what to call it in an error
     * @param format {@code null} to go by the first line
     */
    public static Trace read(String source, @Nullable TraceFormat format, InputStream in) throws IOException {
        return read(source, source, format, in);
    }

    private static Trace read(String source, String name, @Nullable TraceFormat given, InputStream in)
            throws IOException {
        int number = 0;
        List<TraceRequest> requests = new ArrayList<>();
        TraceFormat format = given;
        try {
            BufferedReader lines = new BufferedReader(decoded(in));
            LineParser parser = null;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (line.isBlank()) {
                    continue;
                }
                if (format == null) {
                    format = TraceFormat.of(line);
                }
                if (parser == null) {
                    parser = LineParser.of(format);
                }
                TraceRequest request = parser.parse(line);
                if (request != null) {
                    requests.add(request);
                }
            }
        } catch (LineParser.BadLine e) {
            throw new TraceFormatException(source, number, e.problem(), e);
        } catch (IOException e) {
            // A broken gzip stream or a byte that is no UTF-8, somewhere after the last good line.
            throw new TraceFormatException(source, number + 1, "unreadable: " + e.getMessage(), e);
        }
        if (requests.isEmpty() || format == null) {
            throw new TraceFormatException(source, number + 1, "no request (expected: at least 1)", null);
        }
        return new Trace(name, format.blockTokens(), requests);
    }

    private static Reader decoded(InputStream in) throws IOException {
        BufferedInputStream peekable = new BufferedInputStream(in, 1 << 16);
        peekable.mark(2);
        boolean gzip = peekable.read() == 0x1f && peekable.read() == 0x8b;
        peekable.reset();
        return new InputStreamReader(
                gzip ? new GZIPInputStream(peekable, 1 << 16) : peekable,
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT));
    }

    private static String nameOf(Path file) {
        Path last = file.getFileName();
        String name = last == null ? file.toString() : last.toString();
        return name.replaceFirst("\\.gz$", "").replaceFirst("\\.(jsonl|json|csv)$", "");
    }
}
