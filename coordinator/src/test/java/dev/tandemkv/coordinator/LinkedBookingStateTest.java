package dev.tandemkv.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of edges, walked, and compared with the one in the documentation. */
class LinkedBookingStateTest {

    private static final Path DOCUMENT = Path.of(System.getProperty("tandemkv.root"), "docs", "disaggregation.md");

    @Test
    void everyState_isReachableFromIdle() {
        Set<LinkedBookingState> seen = EnumSet.of(LinkedBookingState.IDLE);
        Deque<LinkedBookingState> todo = new ArrayDeque<>(seen);
        while (!todo.isEmpty()) {
            for (LinkedBookingState next : todo.poll().next()) {
                if (seen.add(next)) {
                    todo.add(next);
                }
            }
        }
        assertThat(seen).containsExactlyInAnyOrder(LinkedBookingState.values());
    }

    @ParameterizedTest
    @EnumSource
    void everyState_canEnd(LinkedBookingState from) {
        Set<LinkedBookingState> seen = EnumSet.of(from);
        Deque<LinkedBookingState> todo = new ArrayDeque<>(seen);
        while (!todo.isEmpty()) {
            LinkedBookingState state = todo.poll();
            if (state.isTerminal()) {
                return;
            }
            state.next().stream().filter(seen::add).forEach(todo::add);
        }
        throw new AssertionError(from + " cannot end");
    }

    @Test
    void terminalStates_areTheThreeEnds() {
        assertThat(Arrays.stream(LinkedBookingState.values()).filter(LinkedBookingState::isTerminal))
                .containsExactlyInAnyOrder(
                        LinkedBookingState.COMPENSATED, LinkedBookingState.RELEASED, LinkedBookingState.FAILED);
    }

    /** A state without the edge could not say that a free by id is outstanding. */
    @ParameterizedTest
    @EnumSource(names = {"IDLE", "DECODE_PREVIEWED", "DECODE_COMMITTED", "PREFILL_COMMITTED", "PREFILL_RELEASED"})
    void stateThatWaitsForAReserve_canBecomePending(LinkedBookingState state) {
        assertThat(state.canBecome(LinkedBookingState.COMPENSATION_PENDING)).isTrue();
    }

    @Test
    void documentation_hasTheTableOfTheCode() throws IOException {
        Map<LinkedBookingState, Set<LinkedBookingState>> documented = new EnumMap<>(LinkedBookingState.class);
        Pattern row = Pattern.compile("\\| `([A-Z_]+)` \\| ([^|]*) \\|");
        Pattern name = Pattern.compile("`([A-Z_]+)`");
        for (String line : Files.readAllLines(DOCUMENT)) {
            Matcher m = row.matcher(line);
            if (m.matches()) {
                documented.put(
                        LinkedBookingState.valueOf(m.group(1)),
                        name.matcher(m.group(2))
                                .results()
                                .map(r -> LinkedBookingState.valueOf(r.group(1)))
                                .collect(Collectors.toSet()));
            }
        }
        Map<LinkedBookingState, Set<LinkedBookingState>> coded =
                Arrays.stream(LinkedBookingState.values()).collect(Collectors.toMap(s -> s, LinkedBookingState::next));
        assertThat(documented).isEqualTo(coded);
    }
}
