package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.HttpLimits;
import dev.tandemkv.adapters.http.internal.wire.ErrorAnswers;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.Scheduler;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its answer. The request's side is confined to the connection's event loop; an answer may be given on any thread and is
 * handed to that loop.
 *
 * <p>An exchange knows whether its client is still there: a stage that is answered {@link #later} is cancelled when the client leaves, which
 * withdraws the request from the library.
 */
public final class Exchange {

    /** What a service's exchanges share. */
    public record Terms(HttpLimits limits, JsonBody.UnknownFields unknownFields, Scheduler scheduler) {}

    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private static final String JSON = "application/json";

    private static final long MAX_DISCARDED = 32L * 1024 * 1024;

    /** HTTP/2: nothing was wrong with the stream, what comes on it is not wanted any more. */
    private static final long NO_ERROR = 0;

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Context context;
    private final Terms terms;
    private final String pathParameter;
    /** Others have their requests on the same connection (HTTP/2), so this one must not close it. */
    private final boolean multiplexed;

    // ---- confined to the event loop
    private boolean clientLeft;
    private boolean answered;
    private boolean bodyEnded;
    private boolean continued;
    private boolean hungUp;
    private long discarded;
    private @Nullable Body body;
    private @Nullable Use<Body> use;
    private Scheduler.@Nullable Task deadline;
    /** An answer that is given, and waits for the rest of a body that nobody reads. */
    private @Nullable Runnable writeAfterBody;

    private @Nullable Runnable withdrawal;

    Exchange(HttpServerRequest request, Context context, Terms terms, String pathParameter) {
        this.request = request;
        this.response = request.response();
        this.context = context;
        this.terms = terms;
        this.pathParameter = pathParameter;
        multiplexed = request.version() == HttpVersion.HTTP_2;
        response.closeHandler(closed -> left());
        response.exceptionHandler(reset -> left());
        request.handler(this::chunk);
        request.endHandler(end -> ended());
        request.exceptionHandler(broken -> stopWaiting());
    }

    private void left() {
        if (!clientLeft && !answered) {
            clientLeft = true;
            if (withdrawal != null) {
                withdrawal.run();
            }
        }
    }

    /** The part of the path that the route leaves open, decoded; empty where it leaves none. */
    public String pathParameter() {
        return pathParameter;
    }

    /** The remote address, without its port. */
    public String client() {
        return request.remoteAddress().hostAddress();
    }

    public @Nullable String header(String name) {
        return request.getHeader(name);
    }

    /** @throws WireException if a parameter that the route knows is repeated */
    public @Nullable String queryParameter(String name) throws WireException {
        return Query.parameter(request.query(), name);
    }

    // ---- request body

    /** Makes something of a value, or refuses it. */
    @FunctionalInterface
    public interface Use<T> {
        void take(T value) throws WireException;
    }

    /** Reads the body as JSON and hands it on; answers what is refused. */
    public <T> void json(JsonBody.Reader<T> reader, Use<T> use) {
        if (!isJson(request.getHeader("content-type"))) {
            refuse(WireException.of(415, Kind.BAD_REQUEST, "content-type: not JSON (expected: " + JSON + ")"));
            return;
        }
        collect(body -> use.take(JsonBody.read(body.bytes(), body.length(), terms.unknownFields(), reader)));
    }

    private static boolean isJson(@Nullable String contentType) {
        if (contentType == null) {
            return false;
        }
        int parameters = contentType.indexOf(';');
        String type = (parameters < 0 ? contentType : contentType.substring(0, parameters))
                .trim()
                .toLowerCase(Locale.ROOT);
        return type.equals(JSON) || (type.startsWith("application/") && type.endsWith("+json"));
    }

    private void collect(Use<Body> whole) {
        long announced = announcedLength();
        int limit = terms.limits().maxBodyBytes();
        if (announced > limit) {
            refuse(tooLarge(announced, limit));
            return;
        }
        body = new Body(announced, limit);
        use = whole;
        waitForBody();
        if (awaitsContinue()) {
            continued = true;
            response.writeContinue();
        }
    }

    private void waitForBody() {
        if (deadline == null) {
            deadline = terms.scheduler()
                    .schedule(terms.limits().bodyTimeout(), () -> context.runOnContext(late -> tooSlow()));
        }
    }

    private void stopWaiting() {
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }

    private boolean awaitsContinue() {
        return !continued && "100-continue".equalsIgnoreCase(request.getHeader("expect"));
    }

    private void chunk(Buffer chunk) {
        Body collected = body;
        if (answered || collected == null) {
            discard(chunk);
        } else if (!collected.append(chunk)) {
            refuse(tooLarge(
                    (long) collected.length() + chunk.length(), terms.limits().maxBodyBytes()));
        }
    }

    /** A body that nobody wants is read all the same, so that the connection can go on, but not for ever. */
    private void discard(Buffer chunk) {
        discarded += chunk.length();
        if (discarded > MAX_DISCARDED) {
            hangUp();
        }
    }

    /** Ends what a client sends that nobody reads any more, once it has its answer. */
    private void hangUp() {
        if (hungUp) {
            return;
        }
        hungUp = true;
        Runnable waiting = writeAfterBody;
        if (waiting != null) {
            writeAfterBody = null;
            waiting.run();
        }
        // In a turn of its own: what is written is sent at the end of this one, and a reset would overtake it.
        context.runOnContext(sent -> {
            if (multiplexed) {
                response.reset(NO_ERROR);
            } else {
                request.connection().close();
            }
        });
    }

    /** Says, where it can be said, that the connection ends with this answer. */
    private void announceEnd() {
        if (!multiplexed) {
            response.putHeader("connection", "close");
        }
    }

    private void ended() {
        stopWaiting();
        bodyEnded = true;
        Runnable waiting = writeAfterBody;
        Body collected = body;
        Use<Body> whole = use;
        if (waiting != null) {
            waiting.run();
        } else if (!answered && collected != null && whole != null) {
            body = null;
            guarded(() -> whole.take(collected));
        }
    }

    private long announcedLength() {
        String announced = request.getHeader("content-length");
        try {
            return announced == null ? -1 : Long.parseLong(announced.trim());
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static WireException tooLarge(long length, int limit) {
        return WireException.limited(
                413,
                Kind.BAD_REQUEST,
                "request body: " + length + " bytes (expected: at most " + limit + ")",
                new WireException.Limit("body_bytes", length, limit));
    }

    /** A client that trickles its body loses its connection; by HTTP/2, where others' requests are on it, only this stream. */
    private void tooSlow() {
        if (bodyEnded || clientLeft) {
            return;
        }
        if (!answered) {
            announceEnd();
            refuse(WireException.of(
                    408,
                    Kind.BAD_REQUEST,
                    "request body: incomplete (expected: whole within "
                            + terms.limits().bodyTimeout().toMillis() + " ms)"));
        }
        hangUp();
    }

    // ---- answers

    /** What is done once more if the client was gone before it had its answer. */
    public interface Undelivered {

        /** Nothing to take back. */
        Undelivered NOTHING = () -> {};

        void takeBack();
    }

    /** Runs part of a route and answers what it throws. */
    void guarded(Step step) {
        try {
            step.run();
        } catch (WireException e) {
            refuse(e);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** A part of a route. */
    @FunctionalInterface
    interface Step {
        void run() throws WireException;
    }

    /** Answers once the stage completes, and cancels it if the client leaves before. */
    public <T> void later(CompletionStage<T> stage, Consumer<T> answer) {
        withdrawal = () -> stage.toCompletableFuture().cancel(false);
        stage.whenComplete((value, failure) -> onLoop(() -> {
            withdrawal = null;
            if (failure != null) {
                fail(failure);
            } else {
                guarded(() -> answer.accept(value));
            }
        }));
        if (clientLeft && withdrawal != null) {
            withdrawal.run();
        }
    }

    private void onLoop(Runnable work) {
        if (Vertx.currentContext() == context) {
            work.run();
        } else {
            context.runOnContext(ignored -> work.run());
        }
    }

    public void answer(int status, byte[] json) {
        answer(status, json, Undelivered.NOTHING);
    }

    /** Adds a header to the answer that is not given yet. */
    public void answerHeader(String name, String value) {
        response.putHeader(name, value);
    }

    /** Call on the event loop. */
    public void answer(int status, byte[] json, Undelivered undelivered) {
        answer(status, JSON, json, undelivered);
    }

    public void answerText(int status, String contentType, byte[] text) {
        answer(status, contentType, text, Undelivered.NOTHING);
    }

    private void answer(int status, String contentType, byte[] bytes, Undelivered undelivered) {
        if (answered) {
            return;
        }
        if (clientLeft || response.closed()) {
            undelivered.takeBack();
            return;
        }
        answered = true;
        body = null; // What comes after an early refusal is discarded, so what came before is of no use.
        response.setStatusCode(status).putHeader("content-type", contentType);
        Runnable write = () -> write(bytes, undelivered);
        if (bodyEnded) {
            write.run();
            return;
        }
        if (multiplexed || awaitsContinue()) {
            // By HTTP/1.1: the client has not begun to send its body, and never will.
            announceEnd();
            write.run();
        } else {
            writeAfterBody = write;
        }
        waitForBody();
    }

    private void write(byte[] bytes, Undelivered undelivered) {
        boolean head = request.method().equals(HttpMethod.HEAD);
        if (head) {
            response.putHeader("content-length", Integer.toString(bytes.length));
        }
        (head ? response.end() : response.end(Buffer.buffer(bytes))).onFailure(lost -> undelivered.takeBack());
    }

    void refuse(WireException refused) {
        answer(refused.status(), ErrorAnswers.of(refused));
    }

    /** Answers a failure of the library. */
    public void fail(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof SelectionException typed) {
            answer(typed.httpStatus(), ErrorAnswers.of(typed));
        } else if (cause instanceof CancellationException) {
            refuse(WireException.of(499, Kind.CANCELLED, "request: withdrawn"));
        } else {
            // The type only: a message may quote the request.
            LOG.error("request failed: {}", cause.getClass().getName());
            refuse(WireException.of(500, Kind.INTERNAL, "internal error"));
        }
    }

    /** Runs work that may block, and answers with what it made. */
    public <T> void blocking(Callable<T> work, Consumer<T> answer) {
        context.executeBlocking(work, false)
                .onComplete(done -> onLoop(() -> {
                    if (done.failed()) {
                        fail(done.cause());
                    } else {
                        guarded(() -> answer.accept(done.result()));
                    }
                }));
    }
}
