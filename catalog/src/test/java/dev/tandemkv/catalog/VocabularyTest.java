package dev.tandemkv.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.SelectionException.Kind;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VocabularyTest {

    @Test
    void workerRank_unsigned_printsParsesAndOrders() {
        WorkerRank largest = new WorkerRank(-1, -1);
        assertThat(largest).hasToString("18446744073709551615/4294967295");
        assertThat(WorkerRank.parse(largest.toString())).isEqualTo(largest);
        List<WorkerRank> ordered = Arrays.asList(largest, new WorkerRank(1, -1), new WorkerRank(1, 2));
        ordered.sort(WorkerRank.UNSIGNED_ORDER);
        assertThat(ordered).containsExactly(new WorkerRank(1, 2), new WorkerRank(1, -1), largest);
        assertThat(WorkerRank.of(3)).isEqualTo(new WorkerRank(3, 0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "1", "1/", "/1", "a/b", "-1/0", "1/-1", "18446744073709551616/0", "1/4294967296", "1/2/3"})
    void workerRank_parseOfAnythingElse_throws(String text) {
        assertThatThrownBy(() -> WorkerRank.parse(text)).isInstanceOf(NumberFormatException.class);
    }

    @Test
    void partitionKey_ordersByModelThenGroup() {
        List<PartitionKey> keys = Arrays.asList(
                new PartitionKey("b", ""),
                new PartitionKey("a", "z"),
                new PartitionKey("a", ""),
                PartitionKey.ofModel("a"));
        keys.sort(PartitionKey.ORDER);
        assertThat(keys).extracting(PartitionKey::toString).containsExactly("a:", "a:default", "a:z", "b:");
    }

    @Test
    void kinds_haveTheirStatusAndRetryability() {
        assertThat(Arrays.stream(Kind.values()).filter(Kind::retryable))
                .containsExactlyInAnyOrder(
                        Kind.OVERLOADED,
                        Kind.QUEUE_REJECTED,
                        Kind.DEADLINE_EXCEEDED,
                        Kind.NOT_READY,
                        Kind.NO_ELIGIBLE_WORKER,
                        Kind.WORKER_GONE,
                        Kind.INDEX_OFFLINE,
                        Kind.UNAVAILABLE);
        assertThat(new CancelledException("x").httpStatus()).isEqualTo(499);
        assertThat(new ShutdownException("x").httpStatus()).isEqualTo(503);
        assertThat(new DeadlineExceededException("x", Duration.ofSeconds(1)).httpStatus())
                .isEqualTo(429);
        assertThat(new InternalException("x", new IllegalStateException("y")).httpStatus())
                .isEqualTo(500);
    }

    @Test
    void changes_sameIdTwice_areRefused() {
        WorkerSpec one = WorkerSpec.builder(1).build();
        assertThatThrownBy(() -> new CatalogChanges(List.of(one, one), Set.of()))
                .isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new CatalogChanges(List.of(one), Set.of(1L))).isInstanceOf(BadRequestException.class);
    }

    @Test
    void result_needsExactlyOneOfRecordAndFailure() {
        assertThatThrownBy(() -> new CatalogChanges.Result(1, null, null)).isInstanceOf(IllegalArgumentException.class);
    }
}
