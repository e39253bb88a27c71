package dev.tandemkv.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class EventHeapPropertyTest {

    private record Entry(long at, int kind, int number) {}

    @Property
    void anyInsertions_mixedWithRemovals_comeOutByTimeKindAndAge(
            @ForAll @Size(max = 200) List<@IntRange(min = -1, max = 23) Integer> steps) {
        EventHeap heap = new EventHeap();
        List<Entry> naive = new ArrayList<>();
        int number = 0;
        for (int step : steps) {
            if (step >= 0) {
                heap.add(step / 4, step % 4, number);
                naive.add(new Entry(step / 4, step % 4, number++));
            } else if (!naive.isEmpty()) {
                removeHead(heap, naive);
            }
        }
        while (!naive.isEmpty()) {
            removeHead(heap, naive);
        }
        assertThat(heap.isEmpty()).isTrue();
    }

    private static void removeHead(EventHeap heap, List<Entry> naive) {
        Entry first = naive.stream()
                .min(Comparator.comparingLong(Entry::at)
                        .thenComparingInt(Entry::kind)
                        .thenComparingInt(Entry::number))
                .orElseThrow();
        assertThat(new Entry(heap.headTime(), heap.headKind(), heap.headPayload()))
                .isEqualTo(first);
        heap.removeHead();
        naive.remove(first);
    }
}
