package dev.tandemkv.adapters.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.tandemkv.catalog.WorkerRank;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.envoyproxy.envoy.type.v3.StatusCode;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The messages that go back to the proxy. Body bytes are passed on as they came: pieces of a {@link ByteString} share its bytes. */
final class Answers {

    /** The largest piece of a body that the protocol lets one message carry. */
    static final int CHUNK_BYTES = 62_000;

    static final ProcessingResponse RESPONSE_HEADERS = ProcessingResponse.newBuilder()
            .setResponseHeaders(HeadersResponse.getDefaultInstance())
            .build();

    static final ProcessingResponse REQUEST_TRAILERS = ProcessingResponse.newBuilder()
            .setRequestTrailers(TrailersResponse.getDefaultInstance())
            .build();

    static final ProcessingResponse RESPONSE_TRAILERS = ProcessingResponse.newBuilder()
            .setResponseTrailers(TrailersResponse.getDefaultInstance())
            .build();

    /** A chunk of the answer goes on unchanged, where the proxy waits for each. */
    static final ProcessingResponse RESPONSE_CHUNK = ProcessingResponse.newBuilder()
            .setResponseBody(BodyResponse.getDefaultInstance())
            .build();

    private Answers() {}

    /** Names the destination in header and metadata alike, and has control headers of the client's removed. */
    static ProcessingResponse destination(Pick.Picked picked, RequestHead head, String newRequestId) {
        HeaderMutation.Builder headers = HeaderMutation.newBuilder();
        set(headers, HeaderNames.DESTINATION, picked.address());
        if (!head.identified()) {
            set(headers, HeaderNames.REQUEST_ID, newRequestId);
        }
        Held held = picked.held();
        if (held != null) {
            WorkerRank worker = held.destination();
            set(headers, HeaderNames.WORKER, Long.toUnsignedString(worker.workerId()));
            set(headers, HeaderNames.RANK, Integer.toUnsignedString(worker.rank()));
            set(headers, HeaderNames.ENGINE_RANK, Integer.toUnsignedString(worker.rank()));
            pair(headers, held.prefill(), picked.prefillAddress());
        }
        for (String name : head.toRemove()) {
            if (headers.getSetHeadersList().stream()
                    .noneMatch(own -> own.getHeader().getKey().equals(name))) {
                headers.addRemoveHeaders(name);
            }
        }
        return ProcessingResponse.newBuilder()
                .setRequestHeaders(HeadersResponse.newBuilder()
                        .setResponse(CommonResponse.newBuilder()
                                .setHeaderMutation(headers)
                                .setClearRouteCache(true)))
                .setDynamicMetadata(metadata(picked.address()))
                .build();
    }

    private static void pair(HeaderMutation.Builder headers, @Nullable WorkerRank prefill, @Nullable String address) {
        set(headers, HeaderNames.ROUTING_MODE, prefill == null ? "aggregated" : "disaggregated");
        if (prefill != null) {
            set(headers, HeaderNames.PREFILL_WORKER, Long.toUnsignedString(prefill.workerId()));
            set(headers, HeaderNames.PREFILL_RANK, Integer.toUnsignedString(prefill.rank()));
        }
        if (address != null) {
            set(headers, HeaderNames.PREFILL_ADDRESS, address);
        }
    }

    private static Struct metadata(String address) {
        Value destination = Value.newBuilder().setStringValue(address).build();
        Struct fields = Struct.newBuilder()
                .putFields(HeaderNames.DESTINATION, destination)
                .build();
        return Struct.newBuilder()
                .putFields(
                        HeaderNames.METADATA_NAMESPACE,
                        Value.newBuilder().setStructValue(fields).build())
                .build();
    }

    private static void set(HeaderMutation.Builder headers, String name, String value) {
        headers.addSetHeaders(HeaderValueOption.newBuilder()
                .setAppendAction(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)
                .setHeader(HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value))));
    }

    /** A piece of the request's body on its way back, no larger than {@link #CHUNK_BYTES}. */
    static ProcessingResponse requestBody(ByteString piece, boolean endsRequest) {
        return ProcessingResponse.newBuilder()
                .setRequestBody(streamed(piece, endsRequest))
                .build();
    }

    /** A chunk of a request that passes through, in pieces that the protocol allows. */
    static void requestBody(ByteString chunk, boolean endsRequest, Consumer<ProcessingResponse> to) {
        inPieces(
                chunk,
                endsRequest,
                piece -> to.accept(
                        ProcessingResponse.newBuilder().setRequestBody(piece).build()));
    }

    /** A chunk of the answer, where the proxy expects it back, in pieces that the protocol allows. */
    static void responseBody(ByteString chunk, boolean endsResponse, Consumer<ProcessingResponse> to) {
        inPieces(
                chunk,
                endsResponse,
                piece -> to.accept(
                        ProcessingResponse.newBuilder().setResponseBody(piece).build()));
    }

    private static void inPieces(ByteString chunk, boolean last, Consumer<BodyResponse> to) {
        int from = 0;
        do {
            int end = Math.min(from + CHUNK_BYTES, chunk.size());
            to.accept(streamed(chunk.substring(from, end), last && end == chunk.size()));
            from = end;
        } while (from < chunk.size());
    }

    private static BodyResponse streamed(ByteString piece, boolean last) {
        return BodyResponse.newBuilder()
                .setResponse(CommonResponse.newBuilder()
                        .setBodyMutation(BodyMutation.newBuilder()
                                .setStreamedResponse(StreamedBodyResponse.newBuilder()
                                        .setBody(piece)
                                        .setEndOfStream(last))))
                .build();
    }

    /** The whole answer to the client, without any upstream. */
    static ProcessingResponse refusal(Refusal refusal, ByteString body) {
        HeaderMutation.Builder headers = HeaderMutation.newBuilder();
        set(headers, "content-type", "application/json");
        if (refusal.retryable()) {
            set(headers, "retry-after", "1");
        }
        return ProcessingResponse.newBuilder()
                .setImmediateResponse(ImmediateResponse.newBuilder()
                        .setStatus(HttpStatus.newBuilder().setCode(StatusCode.forNumber(refusal.status())))
                        .setHeaders(headers)
                        .setBody(body)
                        .setDetails("tandemkv_" + refusal.kind().name().toLowerCase(Locale.ROOT)))
                .build();
    }
}
