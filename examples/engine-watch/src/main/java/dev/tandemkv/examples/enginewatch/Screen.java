package dev.tandemkv.examples.enginewatch;

import java.io.PrintWriter;
import java.util.List;

/** Where pictures go: drawn over each other on a terminal, below each other elsewhere. */
final class Screen {

    private static final String HOME_AND_CLEAR = "\033[H\033[2J";

    private final PrintWriter out;
    private final boolean terminal;

    Screen(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    void show(List<String> lines) {
        if (terminal) {
            out.print(HOME_AND_CLEAR);
        }
        lines.forEach(out::println);
        if (!terminal) {
            out.println();
        }
        out.flush();
    }
}
