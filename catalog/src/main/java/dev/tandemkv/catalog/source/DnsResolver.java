package dev.tandemkv.catalog.source;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Looks a name up. An empty answer says that nothing stands behind the name; a failed stage, that it could not be looked up. */
@FunctionalInterface
public interface DnsResolver {

    /** The addresses of a name, in any order. */
    CompletionStage<List<InetAddress>> resolve(String name);

    /**
     * The JVM's resolver. It waits for the network, so it runs on an executor of the host's. It cannot tell a name without addresses
     * from a server that does not answer, so both are failures. How long it remembers an answer is the JVM's setting {@code
     * networkaddress.cache.ttl}.
     */
    static DnsResolver jdk(Executor executor) {
        return name -> CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return List.of(InetAddress.getAllByName(name));
                    } catch (UnknownHostException e) {
                        throw new CompletionException(e);
                    }
                },
                executor);
    }
}
