package dev.tandemkv.selection.internal.replica;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.internal.replica.OpenAsks.Added;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Against a list. */
class OpenAsksPropertyTest {

    private static final int MOST = 4;

    /** @param steps 0 takes, everything else is asked for */
    @Property(tries = 500)
    void anyOrderOfAsks_isCollectedAsInAList(@ForAll @Size(max = 60) List<@IntRange(max = 8) Integer> steps) {
        OpenAsks asks = new OpenAsks(MOST);
        List<Long> open = new ArrayList<>();
        for (int step : steps) {
            if (step == 0) {
                assertThat(asks.take()).containsExactlyElementsOf(open);
                open.clear();
            } else {
                long worker = -step;
                assertThat(asks.add(worker)).isEqualTo(expected(open, worker));
            }
        }
        assertThat(asks.take()).containsExactlyElementsOf(open);
    }

    private static Added expected(List<Long> open, long worker) {
        if (open.contains(worker)) {
            return Added.COLLECTED;
        }
        if (open.size() == MOST) {
            return Added.FULL;
        }
        open.add(worker);
        return open.size() == 1 ? Added.FIRST : Added.COLLECTED;
    }
}
