package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.client.Calls;
import dev.tandemkv.adapters.http.internal.wire.FoundReader;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.adapters.http.internal.wire.JsonText;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.selection.host.RemoteIndex;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Asks an index service, ours or another of the same wire form, what the ranks hold of a prompt. One such object serves every partition of a
 * core; several gateways may ask one service.
 *
 * <p>A partition that the service does not know holds nothing. Any other failure fails the stage, and the core does as it is configured: by
 * default it decides without that knowledge, says so in the decision and raises an alarm.
 *
 * <p>Thread-safe. Another service than ours tells tokens instead of blocks, and only those on the device; its block sizes are asked for once
 * per partition and kept.
 */
public final class HttpRemoteIndex implements RemoteIndex, AutoCloseable {

    private static final int PORT = 8090;
    private static final int CONNECTIONS = 64;
    private static final int MOST_PARTITIONS = 4096;

    private final Calls calls;
    private final Duration bound;
    private final Map<PartitionKey, Integer> blockSizes = new ConcurrentHashMap<>();

    /**
     * @param service where it listens, for example {@code http://127.0.0.1:8090}, which is the default port
     * @param bound longest time of one lookup
     * @throws IllegalArgumentException if the address is none of HTTP without TLS
     */
    public HttpRemoteIndex(Vertx vertx, URI service, Duration bound) {
        calls = new Calls(vertx, service, PORT, CONNECTIONS, bound);
        this.bound = bound;
    }

    @Override
    public CompletionStage<List<Match>> lookup(PartitionKey partition, long[] blockHashes) {
        byte[] query = JsonText.of(json -> {
            json.writeStartObject();
            json.writeStringField("model_name", partition.modelName());
            json.writeStringField("routing_group", partition.routingGroup());
            json.writeFieldName("block_hashes");
            json.writeArray(blockHashes, 0, blockHashes.length);
            json.writeEndObject();
        });
        return calls.send(new Calls.Call(HttpMethod.POST, "/query_by_hash", query, null, bound))
                .thenCompose(reply -> matches(partition, reply.read("/query_by_hash", FoundReader::read)))
                .exceptionallyCompose(failure -> {
                    Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure;
                    return isUnknown(cause)
                            ? CompletableFuture.completedStage(List.of())
                            : CompletableFuture.failedStage(cause);
                });
    }

    private static boolean isUnknown(Throwable failure) {
        return failure instanceof SelectionException typed && typed.kind() == Kind.NOT_FOUND;
    }

    private CompletionStage<List<Match>> matches(PartitionKey partition, FoundReader found) {
        Integer known = blockSizes.get(partition);
        if (!found.isInTokens() || known != null) {
            return CompletableFuture.completedStage(found.matches(known == null ? 1 : known));
        }
        return calls.send(new Calls.Call(HttpMethod.GET, "/workers", null, null, bound))
                .thenApply(reply -> {
                    int blockSize = reply.read("/workers", body -> blockSize(partition, body));
                    if (blockSizes.size() < MOST_PARTITIONS) {
                        blockSizes.put(partition, blockSize);
                    }
                    return found.matches(blockSize);
                });
    }

    private static int blockSize(PartitionKey partition, JsonBody body) throws IOException, WireException {
        List<Integer> sizes = new ArrayList<>();
        body.list("workers", at -> {
            List<Integer> size = new ArrayList<>();
            List<String> names = new ArrayList<>();
            body.object(at, name -> {
                switch (name) {
                    case "block_size" -> size.add(body.unsigned32(name));
                    case "model_name", "routing_group" -> names.add(body.text(name));
                    default -> {
                        return false;
                    }
                }
                return true;
            });
            if (names.contains(partition.modelName()) && names.contains(partition.routingGroup())) {
                sizes.addAll(size);
            }
        });
        if (sizes.isEmpty() || sizes.get(0) < 1) {
            throw WireException.misshapen("block_size", "missing", "one of the partition's instances");
        }
        return sizes.get(0);
    }

    @Override
    public void close() {
        calls.close();
    }
}
