package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The code of docs/scaling.md that follows engines. */
class ScalingSampleTest {

    @Test
    void twoIngresses_followAllEnginesIntoOneIndex() {
        // region follow engines on several threads
        EventSource.Lookup sources = (spec, rank) -> EventSource.of(EngineFamily.SGLANG);
        SocketLoop loop = SocketLoop.builder().start(); // one thread
        ZmqKvEventIngress some =
                ZmqKvEventIngress.builder().sources(sources).loop(loop).start();
        // Another one, its own.
        ZmqKvEventIngress others = ZmqKvEventIngress.builder().sources(sources).start();
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder().indexShards(4).build())
                .host(SelectionHost.builder()
                        .index(KvIndexSource.owned(KvEventIngress.spread(List.of(some, others))))
                        .build())
                .scheduler(loop)
                .build();
        // endregion
        try (FakeEngine first = FakeEngine.bound();
                FakeEngine second = FakeEngine.bound();
                FakeEngine third = FakeEngine.bound()) {
            List<FakeEngine> engines = List.of(first, second, third);
            for (int id = 0; id < engines.size(); id++) {
                engines.get(id).store(null, 1, 2, 10 + id);
                core.upsert(WorkerSpec.builder(id)
                        .endpoint("http://worker-" + id + ":8000")
                        .blockSize(1)
                        .kvEventsEndpoint(engines.get(id).endpoint())
                        .replayEndpoint(engines.get(id).replayEndpoint())
                        .build());
            }
            for (int id = 0; id < engines.size(); id++) {
                WorkerRank rank = WorkerRank.of(id);
                await(() -> core.index(PartitionKey.DEFAULT).blocks(rank) == 3);
            }
            long followedBySome = followedBy(some, engines.size());
            assertThat(followedBySome + followedBy(others, engines.size())).isEqualTo(3);
            assertThat(followedBySome).isBetween(1L, 2L);
        }
        core.close();
        some.close();
        others.close();
        loop.close();
    }

    private static long followedBy(ZmqKvEventIngress ingress, int workers) {
        long followed = 0;
        for (int id = 0; id < workers; id++) {
            followed += ingress.listenerOf(WorkerRank.of(id)).isPresent() ? 1 : 0;
        }
        return followed;
    }
}
