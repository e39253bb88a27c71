package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.testkit.replica.ReplicaChannelContract;
import org.junit.jupiter.api.Test;

/** Gateways in one process that know of each other through sockets alone. */
class TwoGatewaysTest {

    @Test
    void mesh_keepsTheContractOfAReplicaChannel() {
        ReplicaChannelContract.verify(MeshNetwork::new, Gateway.PATIENCE);
    }

    @Test
    void peers_comeAndGoAtRunTime() {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway()) {
            Gateway.connect(a, b);
            SelectionCore core = b.replica.core();
            assertThat(core.peers()).containsExactly(a.mesh.endpoint());
            assertThat(core.registerPeer(a.mesh.endpoint())).as("known already").isFalse();
            core.deregisterPeer(a.mesh.endpoint());
            assertThat(core.peers()).isEmpty();
            a.replica.book("unheard", "s");
            b.replica.book("heard", "t");
            a.awaitCount(2);
            assertThat(b.replica.counted()).as("nobody listens").isEqualTo(1);
            core.registerPeer(a.mesh.endpoint());
            b.awaitCount(2);

            assertThatThrownBy(() -> a.replica.core().deregisterPeer("tcp://127.0.0.1:1"))
                    .isInstanceOf(NotFoundException.class);
            for (String wrong : new String[] {
                "",
                "127.0.0.1:9",
                "tcp://127.0.0.1",
                "tcp://127.0.0.1:0",
                "tcp://127.0.0.1:65536",
                "tcp://*:9",
                "ipc://x:1",
                "tcp://a b:1",
                "tcp://127.0.0.1:9/x"
            }) {
                assertThatThrownBy(() -> a.replica.core().registerPeer(wrong))
                        .as(wrong)
                        .isInstanceOf(BadRequestException.class)
                        .hasMessageContaining("endpoint");
            }
        }
    }
}
