package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireFormatException;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.event.ReplaySource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * Asks an engine's replay socket. Each request has a socket of its own, so that a late answer to an abandoned one cannot be taken for an
 * answer to the next; it receives without a high-water mark, because the engine drops what is not taken at once. An engine that does not
 * answer, or falls silent half-way, is waited for no longer than the silence allows. A connection that ends takes the request with it if that
 * was sent: it is made anew, once more within the same silence; an answer that has begun ends there. An answer with more batches than the
 * settings allow is cut off there, as if the engine had fallen silent: the rest is asked for anew.
 */
final class RankReplay implements ReplaySource {

    private final SocketLoop loop;
    private final String endpoint;
    private final EngineListener listener;
    private final Duration silence;
    private final Duration pause;
    private final long maxFrameBytes;
    private final int mostBatches;

    RankReplay(SocketLoop loop, String endpoint, EngineListener listener, ZmqSettings settings) {
        this.loop = loop;
        this.endpoint = endpoint;
        this.listener = listener;
        silence = settings.replaySilence();
        pause = settings.reconnectMin();
        maxFrameBytes = settings.limits().payloadBytes();
        mostBatches = settings.replayBatches();
    }

    @Override
    public CompletionStage<ReplayReply> replay(WorkerRank rank, long from) {
        Request request = new Request();
        loop.execute(() -> request.send(from));
        return request.reply.minimalCompletionStage();
    }

    /** One request; touched by the loop's thread alone, but for the stage. */
    private final class Request {
        private final CompletableFuture<ReplayReply> reply = new CompletableFuture<>();
        private final List<EventBatch> batches = new ArrayList<>();
        private ZMQ.@Nullable Socket socket;
        private Scheduler.@Nullable Task timer;
        private boolean heard;
        private int replies;

        void send(long from) {
            awaitMore();
            ask(from);
        }

        private void ask(long from) {
            try {
                ZMQ.Socket dealer = loop.open(SocketType.DEALER, endpoint);
                socket = dealer;
                dealer.setRcvHWM(0);
                dealer.setMaxMsgSize(maxFrameBytes);
                dealer.setEventHook(
                        event -> loop.execute(() -> disconnected(dealer, from)), zmq.ZMQ.ZMQ_EVENT_DISCONNECTED);
                dealer.connect(endpoint);
                List<byte[]> frames = ReplayMessage.request(from);
                dealer.send(frames.get(0), ZMQ.SNDMORE | ZMQ.DONTWAIT);
                dealer.send(frames.get(1), ZMQ.DONTWAIT);
                loop.listen(dealer, this::receive);
            } catch (RuntimeException e) {
                close();
                reply.completeExceptionally(e);
            }
        }

        /** Told before all that has arrived can be taken: so that is waited for. */
        private void disconnected(ZMQ.Socket of, long from) {
            loop.schedule(pause, () -> {
                loop.drain(of, mostBatches);
                if (of == socket && heard) {
                    finish(ReplayReply.End.SILENT);
                } else if (of == socket) {
                    socket = null;
                    loop.close(of);
                    ask(from);
                }
            });
        }

        private void receive(List<byte[]> frames) {
            ReplayMessage message;
            try {
                message = ReplayMessage.of(frames);
            } catch (WireFormatException e) {
                return;
            }
            heard = true;
            if (message instanceof ReplayMessage.Data data) {
                listener.replayed(data).ifPresent(batches::add);
                if (++replies >= mostBatches) {
                    finish(ReplayReply.End.SILENT);
                } else {
                    awaitMore();
                }
            } else {
                finish(ReplayReply.End.MARKED);
            }
        }

        private void awaitMore() {
            if (timer != null) {
                timer.cancel();
            }
            timer = loop.schedule(silence, () -> finish(ReplayReply.End.SILENT));
        }

        private void finish(ReplayReply.End end) {
            close();
            if (heard) {
                reply.complete(new ReplayReply.Batches(batches, end));
            } else {
                reply.completeExceptionally(new SilentEngineException(endpoint, silence));
            }
        }

        private void close() {
            if (socket != null) {
                loop.close(socket);
                socket = null;
            }
            if (timer != null) {
                timer.cancel();
            }
        }
    }
}
