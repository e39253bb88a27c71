package dev.tandemkv.catalog.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class VirtualTimePropertyTest {

    /** Against a sorted map: each task runs once, at its time, in order of (time, number), unless it was cancelled. */
    @Property
    void advance_anySchedule_runsAsASortedMapWould(
            @ForAll @Size(max = 30) List<@IntRange(max = 50) Integer> delays,
            @ForAll @Size(max = 30) List<Boolean> cancelled,
            @ForAll @Size(max = 10) List<@IntRange(max = 20) Integer> steps) {
        VirtualTime time = new VirtualTime();
        TreeMap<Long, List<Integer>> expected = new TreeMap<>();
        List<Integer> ran = new ArrayList<>();
        for (int i = 0; i < delays.size(); i++) {
            int number = i;
            Scheduler.Task task = time.schedule(Duration.ofNanos(delays.get(i)), () -> {
                assertThat(time.read()).isEqualTo((long) delays.get(number));
                ran.add(number);
            });
            if (i < cancelled.size() && cancelled.get(i)) {
                task.cancel();
            } else {
                expected.computeIfAbsent((long) delays.get(i), d -> new ArrayList<>())
                        .add(number);
            }
        }
        for (int step : steps) {
            time.advance(Duration.ofNanos(step));
            assertThat(ran)
                    .isEqualTo(expected.headMap(time.read(), true).values().stream()
                            .flatMap(List::stream)
                            .toList());
        }
    }
}
