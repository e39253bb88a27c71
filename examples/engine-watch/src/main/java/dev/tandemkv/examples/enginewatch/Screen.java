package dev.tandemkv.examples.enginewatch;

import java.io.PrintWriter;
import java.util.List;

/** Where pictures go: drawn over each other on a terminal, below each other elsewhere. */
final class Screen {

    private static final String HOME = "\033[H";
    private static final String CLEAR_BELOW = "\033[J";
    private static final String CLEAR_TO_END_OF_LINE = "\033[K";

    private final PrintWriter out;
    private final boolean terminal;

    Screen(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    void show(List<String> lines) {
        if (terminal) {
            // Overwriting instead of clearing first keeps the picture from flickering.
            out.print(HOME);
            lines.forEach(line -> out.println(line + CLEAR_TO_END_OF_LINE));
            out.print(CLEAR_BELOW);
        } else {
            lines.forEach(out::println);
            out.println();
        }
        out.flush();
    }
}
