package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.jgroups.GroupDiscovery.Dns;
import dev.tandemkv.adapters.jgroups.GroupDiscovery.DnsRecords;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupDiscoveryTest {

    private final Members members = new Members();

    @AfterEach
    void end() {
        members.close();
    }

    private GroupSettings.Builder settings(InetSocketAddress bind, GroupDiscovery discovery) {
        return GroupSettings.builder(bind, discovery)
                .cluster(members.cluster)
                .joinTimeout(GroupNetwork.ALONE)
                .mergeEvery(GroupNetwork.MERGING);
    }

    @Test
    void services_nameHostAndPortOfEachMember() throws Exception {
        try (FakeDns dns = new FakeDns()) {
            String name = "_group._tcp.gateways.test";
            GroupDiscovery discovery = GroupDiscovery.services(name).at(dns.address());
            ReplicaGroup a = members.join(settings(GroupNetwork.anyPort(), discovery));
            dns.service(name, "localhost", a.address().getPort());
            ReplicaGroup b =
                    members.join(settings(GroupNetwork.anyPort(), discovery).joinTimeout(GroupNetwork.JOINING));
            Members.awaitMembers(2, a, b);
        }
    }

    @Test
    void addresses_areAskedOnThePortThatAllShare() throws Exception {
        InetAddress first = InetAddress.getByName("127.0.0.1");
        InetAddress second = InetAddress.getByName("127.0.0.2");
        try (FakeDns dns = new FakeDns()) {
            dns.addresses("gateways.test", first, second);
            GroupDiscovery discovery = GroupDiscovery.dns("gateways.test").at(dns.address());
            List<ReplicaGroup> pair = pairOnOnePort(first, second, discovery);
            Members.awaitMembers(2, pair.toArray(ReplicaGroup[]::new));
        }
    }

    /** Should somebody take the port on one of the addresses before a member does, another is tried. */
    private List<ReplicaGroup> pairOnOnePort(InetAddress first, InetAddress second, GroupDiscovery discovery)
            throws Exception {
        for (int tries = 0; tries < 20; tries++) {
            int port;
            try (ServerSocket free = new ServerSocket(0, 1, second)) {
                port = free.getLocalPort();
            }
            try {
                ReplicaGroup a = members.join(settings(new InetSocketAddress(first, port), discovery));
                return List.of(
                        a,
                        members.join(settings(new InetSocketAddress(second, port), discovery)
                                .joinTimeout(GroupNetwork.JOINING)));
            } catch (GroupUnavailableException taken) {
                assertThat(taken.bind().getPort()).isEqualTo(port);
                members.close();
            }
        }
        throw new AssertionError("no free port");
    }

    @Test
    void namesThatNobodyKnows_leaveAMemberAlone() throws Exception {
        ReplicaGroup listed = members.join(settings(
                GroupNetwork.anyPort(),
                GroupDiscovery.members(InetSocketAddress.createUnresolved("no-such-host.invalid", 7800))));
        assertThat(listed.members()).hasSize(1);
        try (FakeDns dns = new FakeDns()) {
            ReplicaGroup named = members.join(settings(
                    GroupNetwork.anyPort(),
                    GroupDiscovery.services("nobody.test").at(dns.address())));
            assertThat(named.members()).hasSize(1);
        }
    }

    @Test
    void kubernetes_isTheNameOfAHeadlessService() {
        assertThat(GroupDiscovery.kubernetes("gateways", "inference"))
                .isEqualTo(new Dns("gateways.inference.svc", DnsRecords.ADDRESSES, ""));
        assertThatThrownBy(() -> GroupDiscovery.dns("one,another"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
    }
}
