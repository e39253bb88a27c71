package dev.tandemkv.benchmarks.gateway;

import com.google.protobuf.ByteString;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.benchmarks.report.Spent;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
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
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The picker driven over a transport that neither serializes nor changes threads, beside the decision alone. The messages are built
 * beforehand, so what this thread uses is the picker's, but for the call itself.
 */
final class InProcess {

    private static final int WARM_UP = 3_000;
    private static final int ITERATIONS = 2_000;
    private static final int PIECE = 16 << 10;

    private InProcess() {}

    static void measure(Run.Cell cell, int bodyBytes) throws IOException {
        try (Picker picker = new Picker("10.0.0.1:8000", bodyBytes)) {
            decisions(cell, picker);
            String name = InProcessServerBuilder.generateName();
            Server server = InProcessServerBuilder.forName(name)
                    .directExecutor()
                    .addService(picker.service)
                    .build()
                    .start();
            ManagedChannel channel =
                    InProcessChannelBuilder.forName(name).directExecutor().build();
            try {
                exchanges(cell, ExternalProcessorGrpc.newStub(channel), messages(bodyBytes));
            } finally {
                channel.shutdownNow();
                server.shutdownNow();
            }
        }
    }

    private static void decisions(Run.Cell cell, Picker picker) {
        loop(cell, "decision", i -> {
            SelectRequest request = SelectRequest.builder(Prompt.ofTokens(picker.tokens))
                    .selectionId("decision-" + i)
                    .build();
            picker.core.selectAndReserve(request).toCompletableFuture().join().close();
        });
    }

    private static void exchanges(
            Run.Cell cell, ExternalProcessorGrpc.ExternalProcessorStub picker, List<ProcessingRequest> messages) {
        loop(cell, "in_process", i -> {
            Answers answers = new Answers();
            StreamObserver<ProcessingRequest> exchange = picker.process(answers);
            messages.forEach(exchange::onNext);
            exchange.onCompleted();
            answers.check();
        });
    }

    private static void loop(Run.Cell cell, String tag, IntConsumer operation) {
        String self = Thread.currentThread().getName();
        for (int i = 0; i < WARM_UP; i++) {
            operation.accept(i);
        }
        Samples samples = new Samples();
        Spent before = Spent.by(self::equals);
        long began = System.nanoTime();
        for (int i = WARM_UP; i < WARM_UP + ITERATIONS; i++) {
            long start = System.nanoTime();
            operation.accept(i);
            samples.add(System.nanoTime() - start);
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        Spent spent = Spent.by(self::equals).since(before);
        cell.add(tag, samples);
        cell.add(tag, "per_second", ITERATIONS / seconds);
        cell.add(tag, "cpu_ns", (double) spent.cpuNanos() / ITERATIONS);
        cell.add(tag, "allocated_bytes", (double) spent.allocatedBytes() / ITERATIONS);
    }

    /** What Envoy sends for one request and a short answer. */
    private static List<ProcessingRequest> messages(int bodyBytes) {
        List<ProcessingRequest> messages = new ArrayList<>();
        messages.add(ProcessingRequest.newBuilder()
                .setProtocolConfig(ProtocolConfiguration.newBuilder()
                        .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                        .setResponseBodyMode(BodySendMode.FULL_DUPLEX_STREAMED))
                .setRequestHeaders(HttpHeaders.newBuilder()
                        .setHeaders(HeaderMap.newBuilder()
                                .addHeaders(header(":method", "POST"))
                                .addHeaders(header(":path", "/v1/completions"))
                                .addHeaders(header("content-type", "application/json"))
                                .addHeaders(header("x-request-id", "9b1c6a3e-0000-4000-8000-000000000001"))))
                .build());
        ByteString body = ByteString.copyFromUtf8(Gateway.body(bodyBytes));
        for (int at = 0; at < body.size(); at += PIECE) {
            int end = Math.min(at + PIECE, body.size());
            messages.add(ProcessingRequest.newBuilder()
                    .setRequestBody(HttpBody.newBuilder()
                            .setBody(body.substring(at, end))
                            .setEndOfStream(end == body.size()))
                    .build());
        }
        messages.add(ProcessingRequest.newBuilder()
                .setResponseHeaders(HttpHeaders.newBuilder()
                        .setHeaders(HeaderMap.newBuilder().addHeaders(header(":status", "200"))))
                .build());
        messages.add(ProcessingRequest.newBuilder()
                .setResponseBody(HttpBody.newBuilder()
                        .setBody(ByteString.copyFromUtf8(ThroughEnvoy.ANSWER))
                        .setEndOfStream(true))
                .build());
        return messages;
    }

    private static HeaderValue header(String name, String value) {
        return HeaderValue.newBuilder()
                .setKey(name)
                .setRawValue(ByteString.copyFromUtf8(value))
                .build();
    }

    /** Makes sure that the request was routed and answered. */
    private static final class Answers implements StreamObserver<ProcessingResponse> {
        private boolean routed;
        private boolean answered;
        private boolean completed;

        @Override
        public void onNext(ProcessingResponse answer) {
            routed |= answer.hasRequestHeaders();
            answered |= answer.hasResponseBody();
        }

        @Override
        public void onError(Throwable failure) {
            throw new IllegalStateException("the exchange failed", failure);
        }

        @Override
        public void onCompleted() {
            completed = true;
        }

        void check() {
            if (!routed || !answered || !completed) {
                throw new IllegalStateException(
                        "routed " + routed + ", answered " + answered + ", completed " + completed);
            }
        }
    }
}
