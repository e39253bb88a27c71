package dev.tandemkv.adapters.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.SourceException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class AnswersTest {

    private static final CatalogSnapshot ONE =
            CatalogSnapshot.of(WorkerSpec.builder(1).build());
    private static final CatalogSnapshot ONE_SPELT_OUT =
            CatalogSnapshot.of(WorkerSpec.builder(1).dataParallelSize(1).build());
    private static final CatalogSnapshot TWO = CatalogSnapshot.of(
            WorkerSpec.builder(1).build(), WorkerSpec.builder(2).build());

    private final Answers answers = new Answers();

    private CompletableFuture<Optional<CatalogSnapshot>> ask() {
        return answers.ask().toCompletableFuture();
    }

    @Test
    void question_waitsForTheFirstMembership_andThenForAnother() {
        CompletableFuture<Optional<CatalogSnapshot>> first = ask();
        assertThat(first).isNotDone();
        answers.offer(ONE);
        assertThat(first).isCompletedWithValue(Optional.of(ONE));

        CompletableFuture<Optional<CatalogSnapshot>> second = ask();
        answers.offer(ONE_SPELT_OUT);
        assertThat(second).as("the same in other words").isNotDone();
        answers.offer(TWO);
        assertThat(second).isCompletedWithValue(Optional.of(TWO));
    }

    @Test
    void membership_thatNobodyAskedFor_isSupersededByTheNext() {
        answers.offer(ONE);
        answers.offer(TWO);
        assertThat(ask()).isCompletedWithValue(Optional.of(TWO));
        answers.offer(ONE);
        answers.offer(TWO);
        assertThat(ask()).as("as it was answered last").isNotDone();
    }

    @Test
    void failure_endsTheFirstQuestionAlone() {
        SourceException failure = new SourceException("s", "p", null);
        assertThat(answers.failFirst(failure)).as("nobody asks").isFalse();
        CompletableFuture<Optional<CatalogSnapshot>> first = ask();
        assertThat(answers.failFirst(failure)).isTrue();
        assertThat(first).isCompletedExceptionally();
        CompletableFuture<Optional<CatalogSnapshot>> second = ask();
        answers.offer(ONE);
        assertThat(second).isCompletedWithValue(Optional.of(ONE));
        CompletableFuture<Optional<CatalogSnapshot>> third = ask();
        assertThat(answers.failFirst(failure)).as("something was answered").isFalse();
        assertThat(third).isNotDone();
    }

    @Test
    void end_isAnEmptyMembershipOnce_andNothingComesAfterIt() {
        answers.offer(ONE);
        assertThat(ask()).isCompletedWithValue(Optional.of(ONE));
        answers.end();
        answers.offer(TWO);
        assertThat(ask()).isCompletedWithValue(Optional.of(CatalogSnapshot.empty()));
        assertThat(ask()).isCompletedWithValue(Optional.empty());
        assertThat(ask()).isCompletedWithValue(Optional.empty());
    }

    @Test
    void end_whileAsked_answersTheEmptyMembership() {
        answers.offer(ONE);
        ask();
        CompletableFuture<Optional<CatalogSnapshot>> open = ask();
        answers.end();
        assertThat(open).isCompletedWithValue(Optional.of(CatalogSnapshot.empty()));
    }

    @Test
    void close_answersTheOpenQuestionAndAllFurther() {
        CompletableFuture<Optional<CatalogSnapshot>> open = ask();
        answers.close();
        assertThat(open).isCompletedWithValue(Optional.empty());
        answers.offer(ONE);
        assertThat(ask()).isCompletedWithValue(Optional.empty());
    }
}
