package dev.tandemkv.adapters.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The proxy's side of one exchange: sends what Envoy sends, keeps what comes back. Single-threaded over a direct transport. */
final class Proxy implements ClientResponseObserver<ProcessingRequest, ProcessingResponse> {

    final List<ProcessingResponse> answers = new ArrayList<>();

    @Nullable
    Status ended;

    private final boolean stalled;
    private @Nullable ClientCallStreamObserver<ProcessingRequest> call;

    Proxy() {
        this(false);
    }

    private Proxy(boolean stalled) {
        this.stalled = stalled;
    }

    /** One that takes no answer but what it is told to {@link #take}. */
    static Proxy stalled() {
        return new Proxy(true);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<ProcessingRequest> requests) {
        call = requests;
        if (stalled) {
            requests.disableAutoRequestWithInitial(1);
        }
    }

    Proxy take(int answers) {
        required().request(answers);
        return this;
    }

    @Override
    public void onNext(ProcessingResponse answer) {
        answers.add(answer);
    }

    @Override
    public void onError(Throwable failure) {
        ended = Status.fromThrowable(failure);
    }

    @Override
    public void onCompleted() {
        ended = Status.OK;
    }

    Proxy headers(Map<String, String> headers) {
        return head(headers, Metadata.getDefaultInstance(), false, BodySendMode.FULL_DUPLEX_STREAMED);
    }

    Proxy head(Map<String, String> headers, Metadata metadata, boolean end, BodySendMode answerMode) {
        return send(ProcessingRequest.newBuilder()
                .setProtocolConfig(config(BodySendMode.FULL_DUPLEX_STREAMED, answerMode))
                .setMetadataContext(metadata)
                .setRequestHeaders(
                        HttpHeaders.newBuilder().setHeaders(map(headers)).setEndOfStream(end))
                .build());
    }

    Proxy body(String text) {
        return chunk(text.getBytes(StandardCharsets.UTF_8), true);
    }

    Proxy chunk(byte[] bytes, boolean end) {
        return send(ProcessingRequest.newBuilder()
                .setRequestBody(HttpBody.newBuilder()
                        .setBody(ByteString.copyFrom(bytes))
                        .setEndOfStream(end))
                .build());
    }

    Proxy trailers() {
        return send(ProcessingRequest.newBuilder()
                .setRequestTrailers(HttpTrailers.getDefaultInstance())
                .build());
    }

    Proxy answerHeaders(Metadata metadata) {
        return send(ProcessingRequest.newBuilder()
                .setMetadataContext(metadata)
                .setResponseHeaders(HttpHeaders.newBuilder().setHeaders(map(Map.of(":status", "200"))))
                .build());
    }

    Proxy answerBody(String text, boolean end) {
        return send(ProcessingRequest.newBuilder()
                .setResponseBody(HttpBody.newBuilder()
                        .setBody(ByteString.copyFromUtf8(text))
                        .setEndOfStream(end))
                .build());
    }

    Proxy send(ProcessingRequest message) {
        required().onNext(message);
        return this;
    }

    void halfClose() {
        required().onCompleted();
    }

    void reset() {
        required().cancel("the client left", null);
    }

    private ClientCallStreamObserver<ProcessingRequest> required() {
        return java.util.Objects.requireNonNull(call);
    }

    static ProtocolConfiguration config(BodySendMode request, BodySendMode answer) {
        return ProtocolConfiguration.newBuilder()
                .setRequestBodyMode(request)
                .setResponseBodyMode(answer)
                .build();
    }

    static HeaderMap map(Map<String, String> headers) {
        HeaderMap.Builder map = HeaderMap.newBuilder();
        headers.forEach((name, value) ->
                map.addHeaders(HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value))));
        return map.build();
    }

    static Metadata subset(String... addresses) {
        ListValue.Builder list = ListValue.newBuilder();
        for (String address : addresses) {
            list.addValues(Value.newBuilder().setStringValue(address));
        }
        return metadata(
                "envoy.lb.subset_hint",
                "x-gateway-destination-endpoint-subset",
                Value.newBuilder().setListValue(list).build());
    }

    static Metadata metadata(String namespace, String key, Value value) {
        return Metadata.newBuilder()
                .putFilterMetadata(
                        namespace, Struct.newBuilder().putFields(key, value).build())
                .build();
    }

    /** The headers that the answer to the request's headers sets. */
    Map<String, String> routed() {
        Map<String, String> set = new TreeMap<>();
        for (HeaderValueOption option :
                headersAnswer().getResponse().getHeaderMutation().getSetHeadersList()) {
            set.put(
                    option.getHeader().getKey(),
                    option.getHeader().getRawValue().toStringUtf8());
        }
        return set;
    }

    HeadersResponse headersAnswer() {
        return answers.get(0).getRequestHeaders();
    }

    String destination() {
        return java.util.Objects.requireNonNull(routed().get("x-gateway-destination-endpoint"));
    }

    /** What came back of the request's body. */
    ByteString returnedBody() {
        ByteString body = ByteString.EMPTY;
        for (ProcessingResponse answer : answers) {
            body = body.concat(answer.getRequestBody()
                    .getResponse()
                    .getBodyMutation()
                    .getStreamedResponse()
                    .getBody());
        }
        return body;
    }
}
