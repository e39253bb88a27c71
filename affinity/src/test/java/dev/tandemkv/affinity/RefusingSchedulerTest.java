package dev.tandemkv.affinity;

import static dev.tandemkv.affinity.Tables.now;
import static dev.tandemkv.affinity.Tables.target;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** A scheduler that refuses: nobody waits without a bound, and no place in a queue is left behind. */
class RefusingSchedulerTest {

    private static final Duration TTL = Duration.ofSeconds(100);

    private final VirtualTime time = new VirtualTime();
    /** How many calls are still served. */
    private int served = Integer.MAX_VALUE;

    private final SessionAffinity table = SessionAffinity.builder(
                    AffinityConfig.builder(TTL).build(), time, time.clock(), (delay, work) -> {
                        if (served-- <= 0) {
                            throw new RejectedExecutionException("full");
                        }
                        return time.schedule(delay, work);
                    })
            .build();
    private final AffinityResolver resolver = new AffinityResolver(table);

    private CompletableFuture<Optional<AffinityHold>> resolve(SessionRequest request) {
        return resolver.resolve(request).toCompletableFuture();
    }

    private static SessionRequest.Builder request() {
        return SessionRequest.builder("s", bound -> true);
    }

    private void requireNobodyLeftBehind(AffinityHold first) {
        assertThat(table.stats().waiters()).isZero();
        first.close();
        assertThat(table.stats().initializing()).isZero();
        assertThat(now(resolver.resolve(request().build())).orElseThrow().isInitial())
                .isTrue();
    }

    @Test
    void watchOfAWait_refused_endsTheWaitAndItsPlaceInTheQueue() {
        AffinityHold first = resolve(request().build()).join().orElseThrow();
        served = 0;
        assertThat(resolve(request().build())).isCompletedExceptionally();
        requireNobodyLeftBehind(first);
    }

    @Test
    void deadlineOfAWait_refused_endsTheWaitAndItsPlaceInTheQueue() {
        AffinityHold first = resolve(request().build()).join().orElseThrow();
        served = 1;
        assertThat(resolve(request().deadline(TTL.toNanos()).build())).isCompletedExceptionally();
        requireNobodyLeftBehind(first);
    }

    @Test
    void secondLookOfAWait_refused_endsTheWait() {
        AffinityHold first = resolve(request().build()).join().orElseThrow();
        time.advance(Duration.ofSeconds(29));
        CompletableFuture<Optional<AffinityHold>> second = resolve(request().build());
        CompletableFuture<Optional<AffinityHold>> third = resolve(request().build());
        served = 0;
        time.advance(Duration.ofSeconds(2));
        assertThat(second).isCompleted();
        assertThat(third).isCompletedExceptionally();
        second.join().orElseThrow().close();
        assertThat(table.stats().waiters()).isZero();
        first.close();
    }

    @Test
    void reaper_refused_runsAgainOnceTheTableIsUsed() {
        resolve(request().build()).join().orElseThrow().commit(target(1, 0)).close();
        served = 0;
        time.advance(TTL);
        assertThat(table.stats().entries()).isOne();
        served = Integer.MAX_VALUE;
        table.tryAcquire("other", null);
        time.advance(TTL);
        assertThat(table.find("s")).isEmpty();
        assertThat(table.stats().expired()).isOne();
    }
}
