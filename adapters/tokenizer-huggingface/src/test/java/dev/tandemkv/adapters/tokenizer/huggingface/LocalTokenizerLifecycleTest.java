package dev.tandemkv.adapters.tokenizer.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Limits, order and the end, over an encoder that tells how it is used and an executor that runs when it is told to. */
class LocalTokenizerLifecycleTest {

    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
    private final VirtualTime time = new VirtualTime();
    private final Probe probe = new Probe();

    /** Gives one id, the text's length. */
    private static final class Probe implements Encoder {
        private final AtomicInteger encoding = new AtomicInteger();
        private final AtomicInteger encoded = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();
        private final AtomicInteger misused = new AtomicInteger();
        private volatile Runnable whileEncoding = () -> {};

        @Override
        public long[] encode(String text, SpecialTokens special) {
            encoding.incrementAndGet();
            encoded.incrementAndGet();
            whileEncoding.run();
            if (closed.get() > 0) {
                misused.incrementAndGet();
            }
            encoding.decrementAndGet();
            return new long[] {text.length()};
        }

        @Override
        public void close() {
            if (encoding.get() > 0) {
                misused.incrementAndGet();
            }
            closed.incrementAndGet();
        }
    }

    private LocalTokenizer.Builder builder(Executor executor) {
        return LocalTokenizer.builder(Path.of("unread"), executor, time);
    }

    private static CompletableFuture<TokenizedPrompt> ask(LocalTokenizer tokenizer, String text) {
        return tokenizer.tokenize(TokenizeRequest.Completion.of("m", text)).toCompletableFuture();
    }

    private static void assertFailed(CompletableFuture<TokenizedPrompt> answer, Failure failure) {
        assertThat(answer).isCompletedExceptionally();
        assertThatThrownBy(answer::join)
                .cause()
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(failure));
    }

    private void runAll() {
        while (!queue.isEmpty()) {
            queue.remove().run();
        }
    }

    @Test
    void tokenize_doesNothingOnTheCallersThread() {
        LocalTokenizer tokenizer = builder(queue::add).over(probe);

        CompletableFuture<TokenizedPrompt> answer = ask(tokenizer, "abc");

        assertThat(probe.encoded).hasValue(0);
        runAll();
        assertThat(answer.join().tokenIds()).containsExactly(3);
        assertThat(time.pending()).isZero();
    }

    @Test
    void limits_countWhatTheExecutorHasNotComeTo_cancelledOrNot() {
        LocalTokenizer tokenizer =
                builder(queue::add).maxPrompts(2).maxBytes(10).over(probe);
        CompletableFuture<TokenizedPrompt> first = ask(tokenizer, "1234");

        assertFailed(ask(tokenizer, "1234567"), Failure.UNAVAILABLE);
        ask(tokenizer, "123456");
        assertFailed(ask(tokenizer, ""), Failure.UNAVAILABLE);
        first.cancel(false);
        assertFailed(ask(tokenizer, ""), Failure.UNAVAILABLE);
        queue.remove().run();
        assertThat(probe.encoded).hasValue(0);
        assertFailed(ask(tokenizer, "12345"), Failure.UNAVAILABLE);
        ask(tokenizer, "1234");
        runAll();
        assertThat(probe.encoded).hasValue(2);
        CompletableFuture<TokenizedPrompt> whole = ask(tokenizer, "1234567890");
        runAll();
        assertThat(whole.join().tokenIds()).containsExactly(10);
    }

    @Test
    void roomForOne_isEnough_forWhoAsksOneAfterTheOther() {
        LocalTokenizer tokenizer = builder(queue::add).maxPrompts(1).over(probe);

        CompletionStage<TokenizedPrompt> second = ask(tokenizer, "a").thenCompose(first -> ask(tokenizer, "bc"));
        runAll();

        assertThat(second.toCompletableFuture().join().tokenIds()).containsExactly(2);
    }

    @Test
    void promptThatWaitsTooLong_isATimeout_andIsNotTokenizedLater() {
        LocalTokenizer tokenizer =
                builder(queue::add).timeout(Duration.ofSeconds(2)).over(probe);
        CompletableFuture<TokenizedPrompt> answer = ask(tokenizer, "a");

        time.advance(Duration.ofMillis(1999));
        assertThat(answer).isNotDone();
        time.advance(Duration.ofMillis(1));

        assertFailed(answer, Failure.TIMEOUT);
        runAll();
        assertThat(probe.encoded).hasValue(0);
    }

    @Test
    void executorThatRefuses_isUnavailable_andTakesNoRoom() {
        AtomicInteger refusals = new AtomicInteger(3);
        LocalTokenizer tokenizer = builder(task -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new RejectedExecutionException();
                    }
                    queue.add(task);
                })
                .maxPrompts(1)
                .over(probe);

        for (int i = 0; i < 3; i++) {
            assertFailed(ask(tokenizer, "a"), Failure.UNAVAILABLE);
        }
        assertThat(time.pending()).isZero();
        CompletableFuture<TokenizedPrompt> answer = ask(tokenizer, "a");
        runAll();
        assertThat(answer).isCompleted();
    }

    @Test
    void error_reachesTheExecutor_theCallerIsToldAndTheRoomIsFree() {
        LocalTokenizer tokenizer = builder(queue::add).maxPrompts(1).over(probe);
        probe.whileEncoding = () -> {
            throw new StackOverflowError();
        };
        CompletableFuture<TokenizedPrompt> answer = ask(tokenizer, "a");

        assertThatThrownBy(this::runAll).isInstanceOf(StackOverflowError.class);

        assertFailed(answer, Failure.UPSTREAM);
        probe.whileEncoding = () -> {};
        CompletableFuture<TokenizedPrompt> next = ask(tokenizer, "a");
        runAll();
        assertThat(next).isCompleted();
    }

    @Test
    void close_failsWhatWaits_andWhatComesLater_andFreesOnce() {
        LocalTokenizer tokenizer = builder(queue::add).over(probe);
        CompletableFuture<TokenizedPrompt> waiting = ask(tokenizer, "a");

        tokenizer.close();
        tokenizer.close();

        assertFailed(waiting, Failure.UNAVAILABLE);
        assertFailed(ask(tokenizer, "a"), Failure.UNAVAILABLE);
        runAll();
        assertThat(probe.encoded).hasValue(0);
        assertThat(probe.closed).hasValue(1);
        assertThat(time.pending()).isZero();
    }

    @Test
    void close_whileATokenizationRuns_freesWhenItEnds() {
        LocalTokenizer tokenizer = builder(queue::add).over(probe);
        CompletableFuture<TokenizedPrompt> running = ask(tokenizer, "a");
        probe.whileEncoding = () -> {
            tokenizer.close();
            assertFailed(running, Failure.UNAVAILABLE);
            assertThat(probe.closed).hasValue(0);
        };

        runAll();

        assertThat(probe.closed).hasValue(1);
        assertThat(probe.misused).hasValue(0);
    }

    @Test
    void close_racingWithPromptsOnManyThreads_freesOnce_neverDuringOne_andSettlesAll() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(6);
        List<Probe> encoders = new ArrayList<>();
        try {
            for (int round = 0; round < 300; round++) {
                Probe encoder = new Probe();
                encoders.add(encoder);
                LocalTokenizer tokenizer = builder(threads).over(encoder);
                List<CompletableFuture<TokenizedPrompt>> answers = new ArrayList<>();
                List<Future<?>> closers = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    if (i == round % 20) {
                        closers.add(threads.submit(tokenizer::close));
                        closers.add(threads.submit(tokenizer::close));
                    }
                    answers.add(ask(tokenizer, "a"));
                    if (i % 7 == 3) {
                        answers.get(i - 1).cancel(false);
                    }
                }
                for (Future<?> closer : closers) {
                    closer.get();
                }
                for (CompletableFuture<TokenizedPrompt> answer : answers) {
                    answer.handle((prompt, failure) -> prompt).join();
                }
            }
        } finally {
            threads.shutdown();
        }
        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(encoders).allSatisfy(encoder -> {
            assertThat(encoder.misused).hasValue(0);
            assertThat(encoder.closed).hasValue(1);
        });
        assertThat(time.pending()).isZero();
    }
}
