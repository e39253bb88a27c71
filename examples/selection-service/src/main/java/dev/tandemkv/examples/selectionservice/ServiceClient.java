package dev.tandemkv.examples.selectionservice;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** JSON over HTTP, with the JDK's client: what a gateway in any language would do. */
final class ServiceClient {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** @throws IOException if the status is no success */
    JsonNode get(URI uri) throws IOException, InterruptedException {
        return answer(HttpRequest.newBuilder(uri).build());
    }

    /** @throws IOException if the status is no success */
    JsonNode post(URI uri, Map<String, Object> body) throws IOException, InterruptedException {
        return answer(json(uri, body));
    }

    /** @throws IOException if the status is no success */
    JsonNode delete(URI uri) throws IOException, InterruptedException {
        return answer(HttpRequest.newBuilder(uri).DELETE().build());
    }

    private JsonNode answer(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() / 100 != 2) {
            throw new IOException(
                    request.method() + ' ' + request.uri() + ": " + answer.statusCode() + ' ' + answer.body());
        }
        return JSON.readTree(answer.body());
    }

    /** Hands on the data of server-sent events, each as it comes. */
    void stream(URI uri, Map<String, Object> body, Consumer<String> data) throws IOException, InterruptedException {
        HttpResponse<Stream<String>> answer = http.send(json(uri, body), HttpResponse.BodyHandlers.ofLines());
        try (Stream<String> lines = answer.body()) {
            if (answer.statusCode() != 200) {
                throw new IOException("POST " + uri + ": " + answer.statusCode());
            }
            lines.filter(line -> line.startsWith("data: "))
                    .map(line -> line.substring("data: ".length()))
                    .forEach(data);
        }
    }

    private static HttpRequest json(URI uri, Map<String, Object> body) throws IOException {
        return HttpRequest.newBuilder(uri)
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
                .build();
    }
}
