package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.testkit.replica.ReplicaGateway;
import dev.tandemkv.testkit.replica.ReplicaNetwork;
import java.util.LinkedHashMap;
import java.util.Map;

/** Gateways of one process that know of each other through sockets alone. */
final class MeshNetwork implements ReplicaNetwork {

    private final Map<ReplicaGateway, Gateway> gateways = new LinkedHashMap<>();

    @Override
    public ReplicaGateway join() {
        Gateway joiner = new Gateway();
        gateways.values().forEach(other -> Gateway.connect(joiner, other));
        gateways.put(joiner.replica, joiner);
        return joiner.replica;
    }

    @Override
    public void kill(ReplicaGateway gateway) {
        gateways.remove(gateway).die();
    }

    @Override
    public void close() {
        gateways.values().forEach(Gateway::close);
    }
}
