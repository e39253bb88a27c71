package dev.tandemkv.examples.picker;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The proxy's side of one exchange with the picker. Used by one thread; the answers come on gRPC's and wait in a queue. A request body is
 * sent whole, which the picker sends back in pieces; those are not looked at.
 */
final class PickerStream implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 30;

    /** What came from the picker: a message, or the end. */
    private record Event(@Nullable ProcessingResponse answer, Status end) {}

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final StreamObserver<ProcessingRequest> requests;

    private PickerStream(ManagedChannel picker) {
        requests = ExternalProcessorGrpc.newStub(picker).process(new StreamObserver<>() {
            @Override
            public void onNext(ProcessingResponse answer) {
                if (!answer.hasRequestBody()) {
                    events.add(new Event(answer, Status.OK));
                }
            }

            @Override
            public void onError(Throwable failure) {
                events.add(new Event(null, Status.fromThrowable(failure)));
            }

            @Override
            public void onCompleted() {
                events.add(new Event(null, Status.OK));
            }
        });
    }

    static PickerStream open(ManagedChannel picker) {
        return new PickerStream(picker);
    }

    /** The decision: the answer to the headers, or the picker's own answer to the client. */
    ProcessingResponse request(Map<String, String> headers, byte[] body) throws IOException, InterruptedException {
        requests.onNext(ProcessingRequest.newBuilder()
                .setProtocolConfig(ProtocolConfiguration.newBuilder()
                        .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                        .setResponseBodyMode(BodySendMode.STREAMED))
                .setRequestHeaders(
                        HttpHeaders.newBuilder().setHeaders(map(headers)).setEndOfStream(body.length == 0))
                .build());
        if (body.length > 0) {
            requests.onNext(ProcessingRequest.newBuilder()
                    .setRequestBody(body(body, true))
                    .build());
        }
        return next();
    }

    void answerHeaders(int status) throws IOException, InterruptedException {
        requests.onNext(ProcessingRequest.newBuilder()
                .setResponseHeaders(
                        HttpHeaders.newBuilder().setHeaders(map(Map.of(":status", Integer.toString(status)))))
                .build());
        next();
    }

    void answerBody(byte[] bytes, boolean end) throws IOException, InterruptedException {
        requests.onNext(
                ProcessingRequest.newBuilder().setResponseBody(body(bytes, end)).build());
        next();
    }

    private static HttpBody body(byte[] bytes, boolean end) {
        return HttpBody.newBuilder()
                .setBody(ByteString.copyFrom(bytes))
                .setEndOfStream(end)
                .build();
    }

    private static HeaderMap map(Map<String, String> headers) {
        HeaderMap.Builder map = HeaderMap.newBuilder();
        headers.forEach((name, value) ->
                map.addHeaders(HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value))));
        return map.build();
    }

    private ProcessingResponse next() throws IOException, InterruptedException {
        Event event = events.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (event == null || event.answer() == null) {
            throw new IOException(event == null ? "the picker does not answer" : "the picker ended: " + event.end());
        }
        return event.answer();
    }

    @Override
    public void close() {
        requests.onCompleted();
    }
}
