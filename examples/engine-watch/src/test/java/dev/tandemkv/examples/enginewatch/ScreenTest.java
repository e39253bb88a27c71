package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScreenTest {

    private static String shown(boolean terminal) {
        StringWriter text = new StringWriter();
        Screen screen = new Screen(new PrintWriter(text), terminal);
        screen.show(List.of("a", "b"));
        screen.show(List.of("c"));
        return text.toString().replace(System.lineSeparator(), "\n").replace("\033", "^");
    }

    @Test
    void pictures_onATerminal_areDrawnOverEachOther() {
        assertThat(shown(true)).isEqualTo("^[Ha^[K\nb^[K\n^[J^[Hc^[K\n^[J");
    }

    @Test
    void pictures_inAFile_areBelowEachOther() {
        assertThat(shown(false)).isEqualTo("a\nb\n\nc\n\n");
    }
}
