package dev.tandemkv.examples.enginewatch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A file of captured frames, plain or gzip: one frame group a line, {@code {"socket": "sub" | "replay" | "replay-request", "source": n,
 * "frames": [hex, ...]}}.
 */
final class CaptureFile {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path path;

    CaptureFile(Path path) {
        this.path = path;
    }

    /**
     * One line.
     *
     * @param number counted from 1
     * @param socket which socket the frames were received from, or sent to
     * @param source number of the publisher inside the capture
     */
    record Line(int number, String socket, int source, List<byte[]> frames) {
        boolean isLive() {
            return socket.equals("sub");
        }

        boolean isReply() {
            return socket.equals("replay");
        }
    }

    /** Told of each line. */
    interface Reader {
        void line(Line line);

        /** A line that is none of this format; the others are read all the same. */
        void malformed(int number, String why);
    }

    /**
     * Reads the file from its start.
     *
     * @throws IOException naming the file, if it cannot be opened; an end in the middle of it is a malformed line
     */
    void read(Reader reader) throws IOException {
        try (BufferedReader lines = open()) {
            int number = 1;
            for (String text = next(lines, number, reader); text != null; text = next(lines, number, reader)) {
                if (!text.isBlank()) {
                    parse(number, text, reader);
                }
                number++;
            }
        }
    }

    private static @Nullable String next(BufferedReader lines, int number, Reader reader) {
        try {
            return lines.readLine();
        } catch (IOException e) {
            reader.malformed(number, "the rest of the file cannot be read: " + e.getMessage());
            return null;
        }
    }

    private BufferedReader open() throws IOException {
        if (Files.isDirectory(path)) {
            throw new IOException(path + ": a directory (expected: a file)");
        }
        InputStream in = new BufferedInputStream(Files.newInputStream(path));
        try {
            in.mark(2);
            boolean zipped = in.read() == 0x1f && in.read() == 0x8b;
            in.reset();
            return new BufferedReader(
                    new InputStreamReader(zipped ? new GZIPInputStream(in) : in, StandardCharsets.UTF_8));
        } catch (IOException e) {
            in.close();
            throw new IOException(path + ": cannot be read: " + e, e);
        }
    }

    private static void parse(int number, String text, Reader reader) {
        try {
            Line line = line(number, JSON.readTree(text));
            reader.line(line);
        } catch (JsonProcessingException e) {
            reader.malformed(number, "no JSON: " + e.getOriginalMessage());
        } catch (MalformedLineException e) {
            reader.malformed(number, String.valueOf(e.getMessage()));
        }
    }

    private static Line line(int number, JsonNode line) throws MalformedLineException {
        JsonNode frames = line.path("frames");
        if (!frames.isArray()) {
            throw new MalformedLineException("frames: " + frames.getNodeType() + " (expected: an array)");
        }
        if (!line.path("socket").isTextual()) {
            throw new MalformedLineException("socket: " + line.path("socket").getNodeType() + " (expected: a text)");
        }
        if (!line.path("source").isMissingNode() && !line.get("source").canConvertToInt()) {
            throw new MalformedLineException("source: " + line.get("source") + " (expected: a number)");
        }
        List<byte[]> bytes = new ArrayList<>();
        for (JsonNode frame : frames) {
            try {
                bytes.add(HexFormat.of().parseHex(frame.asText()));
            } catch (IllegalArgumentException e) {
                throw new MalformedLineException("frames: " + e.getMessage() + " (expected: hexadecimal)");
            }
        }
        return new Line(number, line.get("socket").asText(), line.path("source").asInt(), bytes);
    }

    /** Says what of a line is not in the format. */
    private static final class MalformedLineException extends Exception {
        private static final long serialVersionUID = 1L;

        MalformedLineException(String message) {
            super(message);
        }
    }
}
