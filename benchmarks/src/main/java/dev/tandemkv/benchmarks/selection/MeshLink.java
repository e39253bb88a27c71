package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.MeshStats;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.host.ReplicaChannel;

/** A replica over ZeroMQ and loopback. */
final class MeshLink implements ReplicaLink {

    private final SocketLoop loop = SocketLoop.builder().start();
    private final ReplicaMesh mesh =
            ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*")).loop(loop).start();

    static Pair pair() {
        MeshLink first = new MeshLink();
        MeshLink second = new MeshLink();
        first.hear(second);
        second.hear(first);
        return new Pair(first, second);
    }

    private void hear(MeshLink other) {
        mesh.peers().orElseThrow().register(other.mesh.endpoint());
    }

    @Override
    public ReplicaChannel channel() {
        return mesh;
    }

    @Override
    public Scheduler scheduler() {
        return loop;
    }

    @Override
    public long heardBy() {
        return mesh.stats().joined();
    }

    @Override
    public Sent sent() {
        MeshStats stats = mesh.stats();
        return new Sent(stats.sent(), stats.sentBytes(), stats.dropped());
    }

    @Override
    public void close() {
        mesh.close();
        loop.close();
    }
}
