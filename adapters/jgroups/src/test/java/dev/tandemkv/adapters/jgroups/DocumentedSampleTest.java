package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.SelectionHost;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

/** The code of docs/replicas.md. */
class DocumentedSampleTest {

    @Test
    void sampleOfThePage_joinsAGroup() throws Exception {
        InetSocketAddress here = GroupNetwork.anyPort();
        Path keyStore = KeyStores.ours();
        char[] password = KeyStores.PASSWORD;
        ReplicaGroup first = ReplicaGroup.join(GroupNetwork.quick("tandemkv")
                .security(GroupSecurity.mutualTls(keyStore, password))
                .build());
        GroupDiscovery others = GroupDiscovery.members(first.address());
        // region join a group
        ReplicaGroup group = ReplicaGroup.join(GroupSettings.builder(here, others) // 10.0.0.7:7800
                .security(GroupSecurity.mutualTls(keyStore, password))
                .build());
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        SelectionCore core = SelectionCore.builder()
                .config(SelectionConfig.builder().replicaSync(true).build()) // router_replica_sync
                .host(SelectionHost.builder().replicaChannel(group).build())
                .scheduler(Scheduler.of(timers))
                .build();
        // endregion
        Members.awaitMembers(2, group, first);

        // region leave a group
        core.close();
        group.close();
        timers.shutdown();
        // endregion
        assertThat(group.members()).isEmpty();
        first.close();
    }

    @Test
    void samplesOfThePage_nameWhereOthersAre() {
        // region find others
        GroupDiscovery listed = GroupDiscovery.members(
                InetSocketAddress.createUnresolved("gateway-0.example.org", 7800),
                InetSocketAddress.createUnresolved("gateway-1.example.org", 7800));
        GroupDiscovery named = GroupDiscovery.dns("gateways.example.org"); // all on one port
        GroupDiscovery services = GroupDiscovery.services("_group._tcp.gateways.example.org");
        GroupDiscovery pods = GroupDiscovery.kubernetes("gateways", "inference"); // a headless service
        // endregion
        assertThat(listed).isNotEqualTo(named);
        assertThat(services).isNotEqualTo(pods);
    }
}
