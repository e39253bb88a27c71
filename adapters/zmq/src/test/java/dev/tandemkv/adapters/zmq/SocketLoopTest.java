package dev.tandemkv.adapters.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.catalog.ShutdownException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

class SocketLoopTest {

    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final SocketLoop loop = SocketLoop.builder()
            .handshake(Duration.ofMillis(50))
            .observer(failures::add)
            .start();

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void work_thatFails_isToldAndTheLoopGoesOn() {
        IllegalStateException failure = new IllegalStateException("on purpose");
        AssertionError error = new AssertionError("on purpose");
        loop.execute(() -> {
            throw failure;
        });
        loop.schedule(Duration.ZERO, () -> {
            throw error;
        });

        assertThat(loop.call(() -> 7)).isEqualTo(7);
        Eventually.await(() -> failures.size() == 2);
        assertThat(loop.failures()).isEqualTo(2);
        assertThat(failures).containsExactly(failure, error);
        assertThat(loop.isRunning()).isTrue();
    }

    @Test
    void call_thatFails_throwsWhatItThrew() {
        assertThatThrownBy(() -> loop.call(() -> {
                    throw new IllegalArgumentException("on purpose");
                }))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(failures).isEmpty();
    }

    @Test
    void schedule_cancelled_doesNotRun_andOthersRunInTheirOrder() {
        AtomicLong now = new AtomicLong();
        ConcurrentLinkedQueue<Integer> ran = new ConcurrentLinkedQueue<>();
        try (SocketLoop timed = SocketLoop.builder().ticker(now::get).start()) {
            timed.schedule(Duration.ofHours(3), () -> ran.add(3));
            timed.schedule(Duration.ofHours(1), () -> ran.add(1));
            timed.schedule(Duration.ofHours(2), () -> ran.add(2)).cancel();
            now.set(Duration.ofHours(4).toNanos());
            CompletableFuture<Boolean> last = new CompletableFuture<>();
            timed.schedule(Duration.ZERO, () -> last.complete(true));

            assertThat(last).succeedsWithin(30, TimeUnit.SECONDS);
            assertThat(ran).containsExactly(1, 3);
        }
    }

    @Test
    void close_endsIt() {
        loop.close();
        loop.close();

        assertThat(loop.isRunning()).isFalse();
        assertThatThrownBy(() -> loop.call(() -> 1)).isInstanceOf(ShutdownException.class);
    }

    /** JeroMQ leaves a few of a hundred fresh connections unread until their handshake timer ends, half a minute by default. */
    @Test
    void connections_manyInARow_areAllAnswered() {
        try (FakeEngine engine = FakeEngine.bound()) {
            String endpoint = engine.replayEndpoint();
            for (int i = 0; i < 300; i++) {
                CompletableFuture<List<byte[]>> answer = new CompletableFuture<>();
                ZMQ.Socket dealer = loop.call(() -> {
                    ZMQ.Socket socket = loop.open(SocketType.DEALER);
                    socket.connect(endpoint);
                    List<byte[]> request = ReplayMessage.request(0);
                    socket.sendMore(request.get(0));
                    socket.send(request.get(1));
                    loop.listen(socket, answer::complete);
                    return socket;
                });
                assertThat(answer).succeedsWithin(30, TimeUnit.SECONDS);
                loop.execute(() -> loop.close(dealer));
            }
        }
    }

    /** JeroMQ's own bound is 1,024 sockets, fewer than a large fleet has ranks. */
    @Test
    void sockets_manyAtOnce_areOpenedAndClosed() {
        requireDescriptors(6_000);
        List<ZMQ.Socket> sockets = loop.call(() -> IntStream.range(0, 1_100)
                .mapToObj(i -> loop.open(SocketType.SUB))
                .toList());
        assertThat(loop.sockets()).isEqualTo(1_100);

        loop.execute(() -> sockets.forEach(loop::close));
        assertThat(loop.call(loop::sockets)).isZero();
        assertThat(loop.failures()).isZero();
    }

    /** Each socket takes four, for its mailbox alone. */
    private static void requireDescriptors(long atLeast) {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
            long most = system.getMaxFileDescriptorCount();
            Assumptions.assumeTrue(most >= atLeast, "this process may open " + most + " files only");
        }
    }

    @Test
    void work_thatHandsOverMoreWork_doesNotKeepTimersAndOthersWaiting() {
        CompletableFuture<Boolean> due = new CompletableFuture<>();
        AtomicBoolean over = new AtomicBoolean();
        loop.execute(() -> again(over));
        try {
            loop.schedule(Duration.ZERO, () -> due.complete(true));
            assertThat(due).succeedsWithin(30, TimeUnit.SECONDS);
        } finally {
            over.set(true);
        }
    }

    private void again(AtomicBoolean over) {
        if (!over.get()) {
            loop.execute(() -> again(over));
        }
    }

    @Test
    void schedule_forLongerThanTheClockCounts_doesNotKeepOthersWaiting() {
        AtomicLong now = new AtomicLong(1_000);
        CompletableFuture<Boolean> due = new CompletableFuture<>();
        try (SocketLoop timed = SocketLoop.builder().ticker(now::get).start()) {
            timed.schedule(ChronoUnit.FOREVER.getDuration(), () -> due.complete(false));
            timed.schedule(Duration.ZERO, () -> due.complete(true));
            assertThat(due).succeedsWithin(30, TimeUnit.SECONDS).isEqualTo(true);
        }
    }

    @Test
    void call_isForgottenOnceItHasAnswered() {
        WeakReference<Object> answer = new WeakReference<>(loop.call(Object::new));
        Eventually.await(() -> {
            System.gc();
            return answer.refersTo(null);
        });
    }

    @Test
    void workThatComesAfterTheEnd_isForgotten() {
        loop.close();
        WeakReference<Object> work = new WeakReference<>(handOver(new Object()));
        Eventually.await(() -> {
            System.gc();
            return work.refersTo(null);
        });
    }

    private Object handOver(Object something) {
        loop.execute(something::hashCode);
        loop.schedule(Duration.ofHours(1), something::hashCode);
        return something;
    }

    @Test
    void calls_whileItEnds_areAnsweredOrRefused() {
        for (int i = 0; i < 50; i++) {
            SocketLoop ending = SocketLoop.builder().start();
            CompletableFuture<Void> end = CompletableFuture.runAsync(ending::close);
            boolean refused = false;
            while (!refused) {
                try {
                    assertThat(ending.call(() -> 7)).isEqualTo(7);
                } catch (ShutdownException e) {
                    refused = true;
                }
            }
            assertThat(end).succeedsWithin(30, TimeUnit.SECONDS);
        }
    }
}
