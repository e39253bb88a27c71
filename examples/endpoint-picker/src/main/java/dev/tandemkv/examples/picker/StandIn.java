package dev.tandemkv.examples.picker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;

/** Stands in for Envoy where there is none: asks the picker as Envoy does and sends the request where it says. For a look, not for use. */
final class StandIn implements Gateway {

    private static final String DESTINATION = "x-gateway-destination-endpoint";
    /** What the client of the JDK sets itself. */
    private static final Set<String> OWN = Set.of("host", "connection", "content-length", "upgrade", "expect");

    private final ManagedChannel picker;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final HttpServer server;

    StandIn(int pickerPort, Executor threads) throws IOException {
        picker = NettyChannelBuilder.forAddress("127.0.0.1", pickerPort)
                .usePlaintext()
                .build();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    @Override
    public String name() {
        return "no Envoy found, this process stands in for it";
    }

    @Override
    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        try (PickerStream stream = PickerStream.open(picker)) {
            ProcessingResponse decision = stream.request(headers(exchange), body);
            if (decision.hasImmediateResponse()) {
                byte[] refusal = decision.getImmediateResponse().getBody().toByteArray();
                int status = decision.getImmediateResponse().getStatus().getCodeValue();
                exchange.sendResponseHeaders(status, refusal.length);
                exchange.getResponseBody().write(refusal);
            } else {
                forward(exchange, body, decision, stream);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    private void forward(HttpExchange exchange, byte[] body, ProcessingResponse decision, PickerStream stream)
            throws IOException, InterruptedException {
        Map<String, String> headers = headers(exchange);
        for (HeaderValueOption set :
                decision.getRequestHeaders().getResponse().getHeaderMutation().getSetHeadersList()) {
            headers.put(set.getHeader().getKey(), set.getHeader().getRawValue().toStringUtf8());
        }
        decision.getRequestHeaders()
                .getResponse()
                .getHeaderMutation()
                .getRemoveHeadersList()
                .forEach(headers::remove);
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://" + headers.get(DESTINATION) + exchange.getRequestURI()))
                .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach((name, value) -> {
            if (!name.startsWith(":") && !OWN.contains(name)) {
                request.header(name, value);
            }
        });
        HttpResponse<InputStream> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        stream.answerHeaders(answer.statusCode());
        answer.headers()
                .firstValue("content-type")
                .ifPresent(type -> exchange.getResponseHeaders().add("content-type", type));
        exchange.sendResponseHeaders(answer.statusCode(), 0);
        try (InputStream in = answer.body();
                OutputStream out = exchange.getResponseBody()) {
            byte[] buffer = new byte[16_384];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                stream.answerBody(Arrays.copyOf(buffer, read), false);
                out.write(buffer, 0, read);
                out.flush();
            }
            stream.answerBody(new byte[0], true);
        }
    }

    private static Map<String, String> headers(HttpExchange exchange) {
        Map<String, String> headers = new TreeMap<>();
        headers.put(":method", exchange.getRequestMethod());
        headers.put(":path", exchange.getRequestURI().toString());
        for (var header : exchange.getRequestHeaders().entrySet()) {
            List<String> values = header.getValue();
            headers.put(header.getKey().toLowerCase(Locale.ROOT), String.join(",", values));
        }
        return headers;
    }

    @Override
    public void close() {
        server.stop(0);
        picker.shutdownNow();
    }
}
