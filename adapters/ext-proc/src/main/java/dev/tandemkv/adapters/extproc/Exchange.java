package dev.tandemkv.adapters.extproc;

import com.fasterxml.jackson.core.JsonGenerator;
import com.google.protobuf.ByteString;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP request of the proxy, from its headers to the end of its answer.
 *
 * <pre>
 *   HEAD -- headers without body --> ROUTED
 *    |
 *   BODY -- end of body --> PICKING -- decision --> ROUTED -- end of answer or of stream --> OVER
 *    |------- refusal ---------|------------------------------------------------------------->
 *    '- the proxy's own answer-'-> UNROUTED -- end of stream --------------------------------->
 * </pre>
 *
 * <p>The proxy's own answer may come first of all: a filter before the picker's may refuse a request that the picker never sees.
 *
 * <p>Everything after the constructor runs in {@link #turn}, one step at a time, on whatever thread comes: the transport's, the tokenizer's,
 * the pool's. No field is touched outside it. A decision that arrives when the stream is gone is released there.
 *
 * <p>Copies of a body: none here. Its pieces stay as the transport delivered them, joined by reference (chunks of less than 128 bytes are
 * copied together); the JSON reader walks over them through a buffer of 8 kB; the tokenizer gets them as they are, a conversation whole and
 * of a completion the part between the prompt's quotes; and the way back to the proxy cuts the same bytes, as fast as the proxy takes them.
 * What the transport and the tokenizer copy on their sockets is theirs; token ids that a client sends become one array.
 */
final class Exchange implements StreamObserver<ProcessingRequest> {

    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private enum State {
        HEAD,
        BODY,
        PICKING,
        ROUTED,
        UNROUTED,
        OVER
    }

    private final PickerParts parts;
    private final ServerCallStreamObserver<ProcessingResponse> out;
    private final SynchronizationContext turn = new SynchronizationContext((thread, failure) -> failed(failure));
    private final CancellationSignal.Source gone = CancellationSignal.source();
    private final Runnable onOver;

    private State state = State.HEAD;
    /** Whether the proxy has said how it sends bodies, which it does with its first message. */
    private boolean greeted;
    /** Whether answers go back whole; so they do to a proxy too old to say, which knows no other streaming of requests either. */
    private boolean streamedBack = true;

    private boolean permit;
    private boolean pulling;
    private @Nullable Pick pick;
    private final HeldBody body;
    private boolean bodyHasTrailers;
    private long bodyEndedAt;
    /** From the decision until the last of the body has gone back. */
    private boolean returning;
    /** What comes after the headers passes through: there is no end to wait for. */
    private boolean tunnel;

    private final Serving serving;
    private Scheduler.@Nullable Task bodyTimer;

    Exchange(PickerParts parts, ServerCallStreamObserver<ProcessingResponse> out, Runnable onOver) {
        this.parts = parts;
        this.out = out;
        this.onOver = onOver;
        this.body = new HeldBody(parts.room(), parts.settings().maxBodyBytes());
        this.serving = new Serving(parts, turn);
    }

    /** Takes one message at a time, and the next one only when the proxy keeps up with the answers. */
    void open() {
        out.disableAutoRequest();
        out.setOnCancelHandler(() -> turn.execute(this::over));
        out.setOnReadyHandler(() -> turn.execute(() -> {
            returnBody();
            pull();
        }));
        out.request(1);
    }

    @Override
    public void onNext(ProcessingRequest message) {
        turn.execute(() -> {
            if (state != State.OVER) {
                handle(message);
                pulling = true;
                pull();
            }
        });
    }

    @Override
    public void onError(Throwable failure) {
        turn.execute(this::over);
    }

    @Override
    public void onCompleted() {
        turn.execute(this::finish);
    }

    /** Ends the exchange because the picker closes. */
    void shutDown() {
        turn.execute(() -> end(Status.UNAVAILABLE.withDescription("the endpoint picker is closed")));
    }

    private void pull() {
        if (pulling && state != State.OVER && out.isReady()) {
            pulling = false;
            out.request(1);
        }
    }

    private void handle(ProcessingRequest message) {
        try {
            boolean first = !greeted;
            greeted = true;
            if (first && message.hasProtocolConfig() && !supports(message.getProtocolConfig())) {
                return;
            }
            switch (message.getRequestCase()) {
                case REQUEST_HEADERS -> requestHeaders(message);
                case REQUEST_BODY -> requestBody(message.getRequestBody());
                case REQUEST_TRAILERS -> requestTrailers();
                case RESPONSE_HEADERS, RESPONSE_BODY, RESPONSE_TRAILERS -> response(message);
                case REQUEST_NOT_SET -> end(Status.INVALID_ARGUMENT.withDescription("a message of no known kind"));
            }
        } catch (RuntimeException refused) {
            refuse(refused);
        }
    }

    // ---- the request

    private void requestHeaders(ProcessingRequest message) {
        if (state != State.HEAD) {
            end(Status.INVALID_ARGUMENT.withDescription("request headers in state " + state));
            return;
        }
        if (message.getObservabilityMode()) {
            end(Status.FAILED_PRECONDITION.withDescription(
                    "observability_mode: true (expected: false, answers decide)"));
            return;
        }
        RequestHead head = RequestHead.of(
                message.getRequestHeaders().getHeaders(), message.getMetadataContext(), parts.settings());
        Pick own = new Pick(parts, head, gone);
        pick = own;
        tunnel = head.tunnel();
        if (tunnel || message.getRequestHeaders().getEndOfStream()) {
            bodyEndedAt = parts.ticker().read();
            route(own.withoutBody());
            return;
        }
        if (!parts.permits().tryAcquire()) {
            parts.tell(observer -> observer.onLimit(PickerObserver.Limit.IN_FLIGHT));
            throw Refusal.tooManyInFlight(parts.settings().maxInFlight());
        }
        permit = true;
        state = State.BODY;
        Duration limit = parts.settings().bodyTimeout();
        bodyTimer = parts.scheduler()
                .schedule(
                        limit,
                        () -> turn.execute(() -> {
                            if (state == State.BODY) {
                                refuse(Refusal.bodyTooSlow(limit));
                            }
                        }));
    }

    private boolean supports(ProtocolConfiguration config) {
        streamedBack = config.getResponseBodyMode() == BodySendMode.FULL_DUPLEX_STREAMED;
        if (config.getRequestBodyMode() != BodySendMode.FULL_DUPLEX_STREAMED) {
            end(Status.FAILED_PRECONDITION.withDescription(
                    "request_body_mode: " + config.getRequestBodyMode() + " (expected: FULL_DUPLEX_STREAMED)"));
            return false;
        }
        if (!streamedBack && config.getResponseBodyMode() != BodySendMode.STREAMED) {
            end(Status.FAILED_PRECONDITION.withDescription("response_body_mode: " + config.getResponseBodyMode()
                    + " (expected: FULL_DUPLEX_STREAMED or STREAMED)"));
            return false;
        }
        return true;
    }

    private void requestBody(HttpBody chunk) {
        if (state == State.UNROUTED) {
            return;
        }
        if (tunnel) {
            Answers.requestBody(chunk.getBody(), chunk.getEndOfStream(), out::onNext);
            return;
        }
        if (state != State.BODY) {
            end(Status.INVALID_ARGUMENT.withDescription("request body in state " + state));
            return;
        }
        if (!body.add(chunk.getBody())) {
            parts.tell(observer -> observer.onLimit(PickerObserver.Limit.BUFFERED_BYTES));
            throw Refusal.tooManyBytes(parts.settings().maxBufferedBytes());
        }
        if (chunk.getEndOfStream()) {
            pick();
        }
    }

    private void requestTrailers() {
        if (state == State.UNROUTED) {
            return;
        }
        if (tunnel) {
            out.onNext(Answers.REQUEST_TRAILERS);
            return;
        }
        if (state != State.BODY) {
            end(Status.INVALID_ARGUMENT.withDescription("request trailers in state " + state));
            return;
        }
        bodyHasTrailers = true;
        pick();
    }

    private void pick() {
        state = State.PICKING;
        stopBodyTimer();
        bodyEndedAt = parts.ticker().read();
        if (body.isEmpty()) {
            route(picking().withoutBody());
            return;
        }
        picking()
                .of(RequestContent.of(body.bytes(), parts.json()))
                .whenComplete((decision, failure) -> turn.execute(() -> {
                    if (decision == null) {
                        refuse(failure == null ? new IllegalStateException("no decision") : failure);
                    } else {
                        route(decision);
                    }
                }));
    }

    private void route(Pick.Picked decision) {
        if (state == State.OVER || state == State.UNROUTED) {
            Serving.neverSent(decision);
            return;
        }
        returning = state == State.PICKING;
        state = State.ROUTED;
        returnPermit();
        serving.begin(picking(), decision);
        out.onNext(
                Answers.destination(decision, picking().head(), parts.chance().newId()));
        returnBody();
        Held held = decision.held();
        WorkerRank prefill = held == null ? null : held.prefill();
        Duration took = Duration.ofNanos(parts.ticker().read() - bodyEndedAt);
        parts.tell(observer -> observer.onPicked(decision.worker(), prefill, took));
    }

    private Pick picking() {
        if (pick == null) {
            throw new IllegalStateException("no request headers");
        }
        return pick;
    }

    /** As fast as the proxy takes it: what waits stays in the picker's own count. */
    private void returnBody() {
        while (returning && state != State.OVER && out.isReady()) {
            ByteString piece = body.next(Answers.CHUNK_BYTES);
            returning = !body.isEmpty();
            out.onNext(Answers.requestBody(piece, !returning && !bodyHasTrailers));
            if (!returning && bodyHasTrailers) {
                out.onNext(Answers.REQUEST_TRAILERS);
            }
        }
    }

    // ---- the answer

    private void response(ProcessingRequest message) {
        if (state != State.ROUTED && state != State.UNROUTED) {
            withdraw();
        }
        if (message.hasResponseHeaders()) {
            responseHeaders(message);
        } else if (message.hasResponseBody()) {
            responseBody(message.getResponseBody());
        } else {
            out.onNext(Answers.RESPONSE_TRAILERS);
            serving.release();
        }
    }

    /** The proxy answers by itself, for example a client too slow: nobody waits for a decision any more. */
    private void withdraw() {
        state = State.UNROUTED;
        stopBodyTimer();
        body.drop();
        returnPermit();
        gone.cancel();
    }

    private void responseHeaders(ProcessingRequest message) {
        out.onNext(Answers.RESPONSE_HEADERS);
        if (message.getResponseHeaders().getEndOfStream()) {
            serving.release();
        } else {
            serving.answerBegins(RequestHead.served(message.getMetadataContext()));
        }
    }

    private void responseBody(HttpBody chunk) {
        if (streamedBack) {
            Answers.responseBody(chunk.getBody(), chunk.getEndOfStream(), out::onNext);
        } else {
            out.onNext(Answers.RESPONSE_CHUNK);
        }
        if (!chunk.getBody().isEmpty()) {
            serving.answerFlows();
        }
        if (chunk.getEndOfStream()) {
            serving.release();
        }
    }

    // ---- the end

    private void refuse(Throwable failure) {
        if (state == State.OVER || state == State.UNROUTED) {
            return;
        }
        Refusal refusal = Refusal.of(failure);
        if (refusal.kind() == SelectionException.Kind.INTERNAL) {
            LOG.warn("A request could not be routed", Unquoted.of(failure));
        }
        if (state == State.ROUTED) {
            end(Status.INTERNAL.withDescription(refusal.text()));
            return;
        }
        out.onNext(Answers.refusal(refusal, errorBody(refusal)));
        parts.tell(observer -> observer.onRefused(refusal.status()));
        finish();
    }

    private ByteString errorBody(Refusal refusal) {
        ByteString.Output bytes = ByteString.newOutput(128);
        try (JsonGenerator json = parts.json().createGenerator(bytes)) {
            json.writeStartObject();
            json.writeStringField("error", refusal.text());
            json.writeStringField("kind", refusal.kind().name());
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteString();
    }

    private void finish() {
        if (state != State.OVER) {
            out.onCompleted();
            over();
        }
    }

    private void end(Status status) {
        if (state != State.OVER) {
            out.onError(status.asRuntimeException());
            over();
        }
    }

    /** Something of ours failed: the proxy is told, and nothing stays held. */
    private void failed(Throwable failure) {
        LOG.warn("An exchange failed", Unquoted.of(failure));
        try {
            end(Status.INTERNAL.withDescription("routing failed"));
        } finally {
            over();
        }
    }

    private void over() {
        if (state == State.OVER) {
            return;
        }
        state = State.OVER;
        stopBodyTimer();
        body.drop();
        returnPermit();
        try {
            gone.cancel();
        } finally {
            serving.release();
            onOver.run();
            parts.tell(PickerObserver::onEnded);
        }
    }

    private void stopBodyTimer() {
        Scheduler.Task running = bodyTimer;
        bodyTimer = null;
        if (running != null) {
            running.cancel();
        }
    }

    private void returnPermit() {
        if (permit) {
            permit = false;
            parts.permits().release();
        }
    }
}
