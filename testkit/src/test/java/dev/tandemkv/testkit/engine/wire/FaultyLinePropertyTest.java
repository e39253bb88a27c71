package dev.tandemkv.testkit.engine.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

class FaultyLinePropertyTest {

    /** A message and where it belongs in the order of arrival. */
    private record Placed(int place, List<byte[]> message) {}

    @Property
    void faults_inAnyOrder_doWhatTheirNamesSay(@ForAll @Size(max = 12) List<Fault> faults, @ForAll long seed) {
        FaultyLine line = new FaultyLine(new SeededRandom(seed));
        faults.forEach(fault -> line.inject(fault, 1));
        EnginePublisher publisher = new EnginePublisher(PublisherConfig.of(WireDialect.VLLM_0_33, 0));
        int messages = faults.size() + 2;
        List<List<byte[]>> arrived = new ArrayList<>();
        List<Placed> expected = new ArrayList<>();
        int swapped = -2;
        for (int i = 0; i < messages; i++) {
            List<byte[]> message = publisher.publish(i, List.of(new EngineEvent.Cleared()));
            arrived.addAll(line.send(message));
            Fault fault = i < faults.size() ? faults.get(i) : null;
            boolean swap = fault == Fault.REORDER && swapped != i - 1;
            swapped = swap ? i : swapped;
            if (swap) {
                expected.add(new Placed(2 * i + 3, message));
            } else if (fault != Fault.DROP) {
                expected.add(new Placed(2 * i, message));
            }
            if (fault == Fault.DUPLICATE) {
                expected.add(new Placed(2 * i, message));
            }
        }
        expected.sort(Comparator.comparingInt(Placed::place));

        assertThat(arrived).hasSameSizeAs(expected);
        for (int i = 0; i < arrived.size(); i++) {
            List<byte[]> sent = expected.get(i).message;
            int number = sent.get(1)[7];
            if (number < faults.size() && faults.get(number) == Fault.GARBAGE) {
                assertThat(isUnreadable(arrived.get(i), sent))
                        .as("message %d", i)
                        .isTrue();
            } else {
                assertThat(arrived.get(i)).as("message %d", i).isSameAs(sent);
            }
        }
    }

    private static boolean isUnreadable(List<byte[]> frames, List<byte[]> sent) {
        return frames.size() != 3
                || frames.get(1).length != 8
                || frames.get(2)[0] == (byte) 0xc1
                || frames.get(2).length < sent.get(2).length;
    }
}
