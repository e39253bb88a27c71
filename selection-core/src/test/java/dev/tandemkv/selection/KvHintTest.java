package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where a booked rank can fetch what it lacks: `kv_hint`. */
class KvHintTest {

    private static final BlockHashes HASHES =
            BlockHasher.ofBlockSize(16).hash(prompt(1, 128).tokenIds(), HashScope.BASE, MultimodalObjects.NONE);

    private static WorkerSpec source(long id, String role, String endpoint) {
        return worker(id)
                .routerHintWorkerType(role)
                .routerHintSourceControlEndpoints(Map.of(0, endpoint))
                .build();
    }

    /** Worker 1 is the target; 2 and 3 are sources of its role, 4 of another one. */
    private static CoreFixture fleet(SelectionConfig config) {
        CoreFixture f = new CoreFixture(config);
        f.core.upsert(source(1, "prefill", ""));
        f.core.upsert(source(2, "prefill", "http://two:1"));
        f.core.upsert(source(3, "prefill", "http://three:1"));
        f.core.upsert(source(4, "decode", "http://four:1"));
        return f;
    }

    private static SelectRequest.Builder onFirst() {
        return request(1, 128).pinnedWorker(WorkerRank.of(1));
    }

    @Test
    void booking_longestSourceOfTheRole_isHinted() {
        CoreFixture f = fleet(SelectionConfig.DEFAULTS);
        f.holds(1, prompt(1, 128), 1);
        f.holds(2, prompt(1, 128), 3);
        f.holds(3, prompt(1, 128), 5);
        f.holds(4, prompt(1, 128), 8);
        KvHint hint = f.book(onFirst()).selection().kvHint();
        assertThat(hint).isEqualTo(new KvHint(WorkerRank.of(3), "http://three:1", 5, 1, HASHES.sequence(4)));
        assertThat(now(f.core.lease(onFirst().build())).selection().kvHint()).isEqualTo(hint);
        assertThat(now(f.core.reserve(onFirst().build())).kvHint()).isEqualTo(hint);
        assertThat(f.select(onFirst()).kvHint()).isNull();
    }

    @Test
    void equalSources_theFirstIsHintedWhateverJoinedFirst() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(source(3, "prefill", "http://three:1"));
        f.core.upsert(source(2, "prefill", "http://two:1"));
        f.core.upsert(source(1, "prefill", ""));
        f.holds(2, prompt(1, 128), 4);
        f.holds(3, prompt(1, 128), 4);
        KvHint hint = f.book(onFirst()).selection().kvHint();
        assertThat(hint).isNotNull();
        assertThat(hint.source()).isEqualTo(WorkerRank.of(2));
    }

    @Test
    void sourceMustHoldMoreThanTheTargetOnDeviceAndHost() {
        CoreFixture f = fleet(SelectionConfig.DEFAULTS);
        f.holds(1, prompt(1, 128), 2);
        f.core.apply(
                PartitionKey.DEFAULT,
                WorkerRank.of(1),
                new KvEvent.Stored(
                        Tier.HOST_PINNED,
                        null,
                        KvEvent.ResidencyDomain.WORKER,
                        HASHES.sequence(1),
                        Arrays.copyOfRange(HASHES.sequences(), 2, 4),
                        Arrays.copyOfRange(HASHES.locals(), 2, 4)));
        f.holds(2, prompt(1, 128), 4);
        assertThat(f.book(onFirst()).selection().kvHint()).isNull();
        f.holds(2, prompt(1, 128), 5);
        KvHint hint = f.book(onFirst()).selection().kvHint();
        assertThat(hint).isNotNull();
        assertThat(hint.targetBlocks()).isEqualTo(4);
        assertThat(hint.blocks()).isEqualTo(5);
    }

    @Test
    void sourceWithoutAnEndpoint_isNone() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(source(1, "prefill", "http://one:1"));
        f.core.upsert(source(2, "prefill", ""));
        f.holds(2, prompt(1, 128), 8);
        assertThat(f.book(onFirst()).selection().kvHint()).isNull();
    }

    @Test
    void targetWithoutARole_getsNone() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).build());
        f.core.upsert(source(2, "prefill", "http://two:1"));
        f.holds(2, prompt(1, 128), 8);
        assertThat(f.book(onFirst()).selection().kvHint()).isNull();
    }

    @Test
    void assumedBlocks_areNoReasonToFetch() {
        SelectionConfig overlay =
                SelectionConfig.builder().predictedTtl(Duration.ofSeconds(5)).build();
        CoreFixture beside = fleet(overlay);
        beside.holds(2, prompt(1, 128), 8);
        assertThat(beside.book(onFirst()).selection().kvHint()).isNull();
        CoreFixture alone = fleet(SelectionConfig.builder().useKvEvents(false).build());
        alone.book(request(1, 128).pinnedWorker(WorkerRank.of(2)));
        assertThat(alone.book(onFirst()).selection().kvHint()).isNull();
    }

    @Test
    void hintAfterAWait_isOfTheRefreshedLookup() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().queueThreshold(0.0).build());
        f.core.upsert(
                source(1, "prefill", "").toBuilder().maxNumBatchedTokens(1_000L).build());
        f.core.upsert(source(2, "prefill", "http://two:1").toBuilder()
                .maxNumBatchedTokens(1_000L)
                .build());
        Booking first = f.book(request(7, 64).pinnedWorker(WorkerRank.of(1)));
        var second = f.core.selectAndReserve(onFirst().build());
        f.holds(2, prompt(1, 128), 6);
        f.time.advance(Duration.ofSeconds(11));
        first.close();
        KvHint hint = now(second).selection().kvHint();
        assertThat(hint).isEqualTo(new KvHint(WorkerRank.of(2), "http://two:1", 6, 0, HASHES.sequence(5)));
    }
}
