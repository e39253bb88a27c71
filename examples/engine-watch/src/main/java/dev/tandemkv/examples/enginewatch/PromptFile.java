package dev.tandemkv.examples.enginewatch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** A prompt as a file of token ids, separated by anything that is no digit: a JSON array is one. */
final class PromptFile {

    private static final Pattern ID = Pattern.compile("-?[0-9]+");

    private PromptFile() {}

    /** @throws IOException if the file cannot be read, is empty, or holds a number that is no token id */
    static int[] read(Path file) throws IOException {
        Matcher ids = ID.matcher(Files.readString(file));
        IntStream.Builder tokens = IntStream.builder();
        while (ids.find()) {
            tokens.add(id(ids.group(), file));
        }
        int[] prompt = tokens.build().toArray();
        if (prompt.length == 0) {
            throw new IOException(file + ": no token id in it");
        }
        return prompt;
    }

    private static int id(String text, Path file) throws IOException {
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException e) {
            throw new IOException(file + ": " + text + " (expected: a token id, unsigned 32-bit)", e);
        }
    }
}
