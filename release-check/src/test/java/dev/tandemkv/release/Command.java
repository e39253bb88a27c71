package dev.tandemkv.release;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that is waited for, and that is gone afterwards. */
final class Command {

    /** Only a hang lasts so long. */
    private static final long MINUTES = 10;

    private final Path directory;
    private final List<String> words;

    Command(Path directory, List<String> words) {
        this.directory = directory;
        this.words = List.copyOf(words);
    }

    /** The Maven that runs this build, on the JDK that runs this test, told only what is told here. */
    static Command maven(Path directory, List<String> arguments) {
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("tandemkv.maven"), "bin", windows ? "mvn.cmd" : "mvn")
                .toString());
        words.add("--batch-mode");
        words.add("--no-transfer-progress");
        words.addAll(arguments);
        return new Command(directory, words);
    }

    static Command java(Path directory, List<String> arguments) {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(arguments);
        return new Command(directory, words);
    }

    /**
     * Runs it to its end.
     *
     * @return what it wrote to its standard output
     * @throws AssertionError with all that it wrote, if it fails
     */
    String run() throws IOException, InterruptedException {
        Path out = Files.createTempFile(directory, "command", ".out");
        Path err = Files.createTempFile(directory, "command", ".err");
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MAVEN_SKIP_RC", "true");
        List.of("MAVEN_OPTS", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
                .forEach(builder.environment()::remove);
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(MINUTES, TimeUnit.MINUTES);
            if (!ended || process.exitValue() != 0) {
                throw new AssertionError("%s%n%s%n%s%n%s"
                        .formatted(
                                String.join(" ", words),
                                ended ? "exit " + process.exitValue() : "no end in " + MINUTES + " minutes",
                                Files.readString(out),
                                Files.readString(err)));
            }
            return Files.readString(out);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
