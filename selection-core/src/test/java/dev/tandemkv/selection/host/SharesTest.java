package dev.tandemkv.selection.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.selection.host.RemoteIndex.Match;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Ingresses and remote indexes that each have their share of the workers. */
class SharesTest {

    private static final long[] PROMPT = {1, 2};

    /** Keeps what it was told. */
    private static final class Recorded implements KvEventIngress {
        final boolean listening;
        final Set<Long> followed = new HashSet<>();
        final List<PrefixIndex> opened = new ArrayList<>();

        Recorded(boolean listening) {
            this.listening = listening;
        }

        @Override
        public boolean listens() {
            return listening;
        }

        @Override
        public void open(PartitionKey partition, int blockSize, PrefixIndex index) {
            opened.add(index);
        }

        @Override
        public List<String> missingMetadata(WorkerSpec spec) {
            return List.of("asked " + System.identityHashCode(this));
        }

        @Override
        public void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {
            followed.add(spec.workerId());
        }

        @Override
        public void detach(WorkerSpec spec) {
            assertThat(followed.remove(spec.workerId())).isTrue();
        }

        @Override
        public Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
            assertThat(followed).contains(rank.workerId());
            return Optional.empty();
        }
    }

    @Test
    void spread_everyWorkerHasOneIngress_andTheSameAgain() {
        List<Recorded> ingresses = List.of(new Recorded(true), new Recorded(true), new Recorded(true));
        KvEventIngress spread = KvEventIngress.spread(ingresses);
        PrefixIndex index = PrefixIndex.builder().build();
        spread.open(PartitionKey.DEFAULT, 16, index);
        assertThat(ingresses).allSatisfy(ingress -> assertThat(ingress.opened).containsExactly(index));
        assertThat(spread.listens()).isTrue();

        for (long id = -150; id < 150; id++) {
            WorkerSpec spec = WorkerSpec.builder(id).build();
            spread.reconcile(null, spec);
            Recorded own = ingresses.stream()
                    .filter(ingress -> ingress.followed.contains(spec.workerId()))
                    .findFirst()
                    .orElseThrow();
            assertThat(spread.missingMetadata(spec)).isEqualTo(own.missingMetadata(spec));
            spread.status(PartitionKey.DEFAULT, WorkerRank.of(id));
        }
        assertThat(ingresses.stream()
                        .mapToInt(ingress -> ingress.followed.size())
                        .sum())
                .isEqualTo(300);
        assertThat(ingresses).allSatisfy(ingress -> assertThat(ingress.followed).hasSizeBetween(50, 150));
        for (long id = -150; id < 150; id++) {
            spread.detach(WorkerSpec.builder(id).build());
        }
        assertThat(ingresses).allSatisfy(ingress -> assertThat(ingress.followed).isEmpty());
    }

    @Test
    void spread_noneOrUnlikeOnes_isRefused() {
        assertThatThrownBy(() -> KvEventIngress.spread(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> KvEventIngress.spread(List.of(new Recorded(true), new Recorded(false))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: all or none");
    }

    @Test
    void joined_answersOfAll_areOne_andAskedAtOnce() {
        CompletableFuture<List<Match>> slow = new CompletableFuture<>();
        List<String> asked = new ArrayList<>();
        RemoteIndex joined = RemoteIndex.joined(List.of(
                (partition, hashes) -> {
                    asked.add("first");
                    return slow;
                },
                (partition, hashes) -> {
                    asked.add("second");
                    return CompletableFuture.completedStage(List.of(match(2)));
                }));

        CompletionStage<List<Match>> answer = joined.lookup(PartitionKey.DEFAULT, PROMPT);
        assertThat(asked).containsExactly("first", "second");
        slow.complete(List.of(match(1)));
        assertThat(answer.toCompletableFuture().join()).containsExactly(match(1), match(2));
    }

    @Test
    void joined_oneFails_theLookupFails() {
        IllegalStateException failure = new IllegalStateException("gone");
        RemoteIndex joined = RemoteIndex.joined(List.of(
                (partition, hashes) -> CompletableFuture.completedStage(List.of(match(1))),
                (partition, hashes) -> CompletableFuture.failedStage(failure)));

        assertThatThrownBy(() -> joined.lookup(PartitionKey.DEFAULT, PROMPT)
                        .toCompletableFuture()
                        .join())
                .isInstanceOf(CompletionException.class)
                .hasCause(failure);
        assertThatThrownBy(() -> RemoteIndex.joined(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    private static Match match(long worker) {
        return new Match(WorkerRank.of(worker), 2, 0, 0);
    }
}
