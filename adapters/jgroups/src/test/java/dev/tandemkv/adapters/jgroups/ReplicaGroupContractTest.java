package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.testkit.replica.ReplicaChannelContract;
import org.junit.jupiter.api.Test;

class ReplicaGroupContractTest {

    @Test
    void group_keepsTheContractOfAReplicaChannel() {
        ReplicaChannelContract.verify(GroupNetwork::new, GroupNetwork.PATIENCE);
    }
}
