package dev.tandemkv.adapters.zmq;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes a thread that waits in a poller. Any thread may {@link #wake}; the others are the waiting thread's. However often it is woken, at
 * most one byte is under way until it {@linkplain #rearm rearms}.
 */
final class WakePipe {

    private static final Logger LOG = LoggerFactory.getLogger(WakePipe.class);

    private final Pipe pipe;
    private final AtomicBoolean woken = new AtomicBoolean();

    WakePipe() throws IOException {
        pipe = Pipe.open();
        pipe.source().configureBlocking(false);
    }

    /** What the poller watches. */
    SelectableChannel source() {
        return pipe.source();
    }

    void wake() {
        if (woken.compareAndSet(false, true)) {
            // A write by an interrupted thread would close the pipe, so the interrupt waits.
            boolean interrupted = Thread.interrupted();
            try {
                pipe.sink().write(ByteBuffer.wrap(new byte[1]));
            } catch (IOException e) {
                LOG.debug("The waiting thread has ended", e);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** From here on it is woken again. Called before what it was woken for is looked at. */
    void rearm() {
        woken.set(false);
    }

    /** Takes what made the poller return. */
    void drain() {
        ByteBuffer buffer = ByteBuffer.allocate(64);
        try {
            while (pipe.source().read(buffer) > 0) {
                buffer.clear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void close() {
        try {
            pipe.sink().close();
            pipe.source().close();
        } catch (IOException e) {
            LOG.debug("The wake-up pipe did not close", e);
        }
    }
}
