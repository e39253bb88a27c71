package dev.tandemkv.adapters.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WakePipeTest {

    private final WakePipe pipe;
    private final Selector selector = Selector.open();

    WakePipeTest() throws IOException {
        pipe = new WakePipe();
    }

    @BeforeEach
    void watch() throws IOException {
        pipe.source().register(selector, SelectionKey.OP_READ);
    }

    @AfterEach
    void close() throws IOException {
        pipe.close();
        selector.close();
    }

    private boolean isReadable() throws IOException {
        selector.selectedKeys().clear();
        return selector.selectNow() == 1;
    }

    @Test
    void wake_manyTimes_isOneByteUntilRearmed() throws IOException {
        pipe.wake();
        pipe.wake();
        assertThat(isReadable()).isTrue();

        pipe.drain();
        pipe.wake();
        assertThat(isReadable()).isFalse();

        pipe.rearm();
        pipe.wake();
        assertThat(isReadable()).isTrue();
    }

    @Test
    void wake_byAnInterruptedThread_leavesThePipeOpenAndTheThreadInterrupted() throws IOException {
        Thread.currentThread().interrupt();
        pipe.wake();
        assertThat(Thread.interrupted()).isTrue();

        assertThat(isReadable()).isTrue();
        pipe.drain();
        pipe.rearm();
        // A closed pipe would be readable for ever.
        assertThat(isReadable()).isFalse();
        pipe.wake();
        assertThat(isReadable()).isTrue();
    }

    @Test
    void wake_afterClose_isFine() {
        pipe.close();
        pipe.wake();
        pipe.close();

        assertThat(pipe.source().isOpen()).isFalse();
    }
}
