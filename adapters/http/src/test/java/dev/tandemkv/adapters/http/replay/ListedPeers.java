package dev.tandemkv.adapters.http.replay;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** A channel to peers that nobody talks to. */
final class ListedPeers implements ReplicaChannel, ReplicaPeers {

    private final TreeSet<String> endpoints = new TreeSet<>();

    @Override
    public synchronized boolean register(String endpoint) {
        if (!endpoint.startsWith("tcp://")) {
            throw new BadRequestException("endpoint", endpoint, "tcp://host:port");
        }
        return endpoints.add(endpoint);
    }

    @Override
    public synchronized boolean deregister(String endpoint) {
        return endpoints.remove(endpoint);
    }

    @Override
    public synchronized List<String> endpoints() {
        return List.copyOf(endpoints);
    }

    @Override
    public Optional<ReplicaPeers> peers() {
        return Optional.of(this);
    }

    @Override
    public Outcome publish(String topic, byte[] payload) {
        return Outcome.DROPPED;
    }

    @Override
    public void subscribe(String topic, Handler handler) {}

    @Override
    public void close() {}
}
