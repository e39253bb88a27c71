package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.PartitionLoads.ClassLoad;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.config.QueueProfiles;
import dev.tandemkv.selection.config.SelectionConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a core tells and shows beside the outcome, for metrics. */
class ObserverReportsTest {

    private final List<String> told = new ArrayList<>();
    private final VirtualTime time = new VirtualTime();

    private SelectionCore core(SelectionConfig config) {
        SelectionCore core = SelectionCore.builder()
                .config(config)
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(1))
                .observer(new SelectionObserver() {
                    @Override
                    public void onRung(PartitionKey partition, LadderRung rung) {
                        told.add(rung.name());
                    }

                    @Override
                    public void onFailed(PartitionKey partition, Kind kind) {
                        told.add("failed " + kind);
                    }

                    @Override
                    public void onQueueRejected(PartitionKey partition, String policyClass, Limit limit) {
                        told.add(policyClass + " " + limit);
                    }
                })
                .build();
        core.upsert(worker(1).maxNumBatchedTokens(8192L).build());
        return core;
    }

    @Test
    void selection_withAndWithoutEvents_tellsItsRung() {
        core(SelectionConfig.DEFAULTS).select(request(1, 40).build());
        core(SelectionConfig.builder().useKvEvents(false).build())
                .select(request(1, 40).build());

        assertThat(told).containsExactly("EXACT_INDEX", "APPROXIMATE");
    }

    @Test
    void fullQueue_isShownByClassAndToldWithItsLimit() {
        QueueClass only = QueueClass.named("batch")
                .withBusyThresholds(null, 0.0)
                .withLimits(new QueueClass.Limits(1L, null, null));
        QueueProfiles profiles = new QueueProfiles(new QueueProfile(List.of(), "batch", List.of(only)), Map.of());
        SelectionCore core =
                core(SelectionConfig.builder().queueProfiles(profiles).build());
        core.selectAndReserve(request(1, 40).build());
        core.selectAndReserve(request(2, 48).build());
        told.clear();

        core.selectAndReserve(request(3, 40).build());

        assertThat(told).containsExactly("failed QUEUE_REJECTED", "batch REQUESTS");
        assertThat(core.loads(PartitionKey.DEFAULT).orElseThrow().queues())
                .containsExactly(new ClassLoad("batch", new Pending(1, 48, 0)));
    }

    @Test
    void tryOfABusyPool_wouldWait_isNoFailureAndNoRejection() {
        SelectionCore core = core(SelectionConfig.builder().queueThreshold(0.0).build());
        core.selectAndReserve(request(1, 40).build());
        told.clear();

        for (int i = 0; i < 3; i++) {
            assertThat(core.trySelect(request(2, 40).build())).isInstanceOf(Attempted.WouldWait.class);
            assertThat(core.tryReserve(request(2, 40).build())).isInstanceOf(Attempted.WouldWait.class);
        }

        assertThat(told).isEmpty();
        assertThat(core.stats().failed()).isZero();
        core.select(request(2, 40).queueing(SelectRequest.Queueing.REFUSED).build());
        assertThat(told).containsExactly("failed QUEUE_REJECTED", "default DO_NOT_QUEUE");
        core.trySelect(request(2, 40).pinnedWorker(WorkerRank.of(9)).build());
        assertThat(core.stats().failed()).isEqualTo(2);
    }

    @Test
    void withoutQueueAndSessions_noClassAndNoTable() {
        SelectionCore core = core(SelectionConfig.DEFAULTS);

        assertThat(core.loads(PartitionKey.DEFAULT).orElseThrow().queues()).isEmpty();
        assertThat(core.sessionStats(PartitionKey.DEFAULT)).isEmpty();
    }
}
