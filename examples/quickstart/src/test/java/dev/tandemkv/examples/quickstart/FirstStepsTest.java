package dev.tandemkv.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.SelectionCore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FirstStepsTest {

    private static final int[] TOKENS = IntStream.range(0, 200).toArray();

    private final VirtualTime time = new VirtualTime();
    private final List<String> sent = new ArrayList<>();

    @Test
    void selectAWorker_oneHoldsThePrompt_sendsItThere() {
        FirstSteps.selectAWorker(time, TOKENS, sent::add);

        assertThat(sent).containsExactly("10.0.0.2:8000");
    }

    @Test
    void coordinateAPair_twoPools_sendsToBothAndLeavesNothingBooked() {
        SelectionCore prefill = pool("10.0.1.1:8000");
        SelectionCore decode = pool("10.0.2.1:8000");

        FirstSteps.coordinateAPair(prefill, decode, time, TOKENS, sent::add);

        assertThat(sent).containsExactly("10.0.1.1:8000", "10.0.2.1:8000");
        for (SelectionCore pool : List.of(prefill, decode)) {
            assertThat(pool.loads().get(0).loads())
                    .extracting(RankLoad::activeRequests)
                    .containsOnly(0);
        }
    }

    private SelectionCore pool(String endpoint) {
        SelectionCore core =
                SelectionCore.builder().scheduler(time).ticker(time).build();
        core.upsert(WorkerSpec.builder(1).endpoint(endpoint).blockSize(64).build());
        return core;
    }
}
