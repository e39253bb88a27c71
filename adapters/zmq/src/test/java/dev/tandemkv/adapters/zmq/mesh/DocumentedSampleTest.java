package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.SelectionHost;
import org.junit.jupiter.api.Test;

/** The code of docs/replicas.md. */
class DocumentedSampleTest {

    @Test
    void sampleOfThePage_registersAndForgetsAPeer() {
        String here = "tcp://127.0.0.1:*";
        String peer = "tcp://127.0.0.1:9";
        // region share bookings and sessions
        SocketLoop loop = SocketLoop.builder().start();
        ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.at(here)) // tcp://10.0.0.7:9092
                .loop(loop)
                .start();
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder().replicaSync(true).build()) // router_replica_sync
                .host(SelectionHost.builder().replicaChannel(mesh).build())
                .scheduler(loop)
                .build();
        core.registerPeer(peer); // tcp://10.0.0.8:9092, at any time; both sides register each other
        // endregion
        assertThat(core.peers()).containsExactly(peer);
        core.deregisterPeer(peer);
        assertThat(core.peers()).isEmpty();

        // region close in order
        core.close();
        mesh.close();
        loop.close();
        // endregion
    }
}
