package dev.tandemkv.adapters.jgroups;

import static dev.tandemkv.selection.host.ReplicaChannel.BOOKINGS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupSecurityTest {

    /** Long enough to get in if that were possible. */
    private static final Duration TRYING = Duration.ofSeconds(1);

    @TempDir
    static Path directory;

    private static Path ours;
    private static Path another;

    @BeforeAll
    static void makeKeys() throws Exception {
        ours = KeyStores.ours();
        another = KeyStores.another();
    }

    private static GroupSecurity with(Path keyStore) {
        return GroupSecurity.mutualTls(keyStore, KeyStores.PASSWORD);
    }

    @Test
    void strangers_areNoMembers_andAreNotHeard() throws Exception {
        try (Members members = new Members()) {
            ReplicaGroup a = members.join(members.settings().security(with(ours)));
            ReplicaGroup open = members.join(members.settings(a).joinTimeout(GroupNetwork.ALONE));
            ReplicaGroup foreign = members.join(members.settings(a)
                    .security(GroupSecurity.mutualTls(KeyStores.trustingAnybody(another)))
                    .joinTimeout(TRYING));
            open.publish(BOOKINGS, new byte[] {1});
            foreign.publish(BOOKINGS, new byte[] {1});
            // A member that may join does so after they could not.
            ReplicaGroup b = members.join(members.settings(a, open, foreign).security(with(ours)));
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            b.subscribe(BOOKINGS, payload -> heard.add(new String(payload, StandardCharsets.UTF_8)));
            Members.awaitMembers(2, a, b);
            a.publish(BOOKINGS, "among members".getBytes(StandardCharsets.UTF_8));
            assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo("among members");
            assertThat(a.stats().received()).isZero();
            assertThat(open.members()).hasSize(1);
            assertThat(foreign.members()).hasSize(1);
        }
    }

    @Test
    void addressThatTakesConnectionsAndSaysNothing_keepsNobodyFromTheOthers() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (Members members = new Members();
                ServerSocket silent = new ServerSocket(0, 50, loopback)) {
            InetSocketAddress nobody = new InetSocketAddress(loopback, silent.getLocalPort());
            ReplicaGroup a = members.join(GroupNetwork.quick(members.cluster, nobody)
                    .security(with(ours))
                    .joinTimeout(GroupNetwork.ALONE));
            ReplicaGroup b = members.join(
                    GroupNetwork.quick(members.cluster, nobody, a.address()).security(with(ours)));
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            b.subscribe(BOOKINGS, payload -> heard.add(new String(payload, StandardCharsets.UTF_8)));
            Members.awaitMembers(2, a, b);
            a.publish(BOOKINGS, "past the silent one".getBytes(StandardCharsets.UTF_8));
            assertThat(heard.poll(40, TimeUnit.SECONDS)).isEqualTo("past the silent one");
        }
    }

    @Test
    void keyStoreThatCannotBeRead_isRefused() {
        assertThatThrownBy(() -> GroupSecurity.mutualTls(ours, "wrong".toCharArray()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keyStore");
        assertThatThrownBy(() -> GroupSecurity.mutualTls(directory.resolve("none"), KeyStores.PASSWORD))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void keyStoreWithoutAKey_isRefused() throws Exception {
        Path file = directory.resolve("certificate-alone.p12");
        KeyStore certificate = KeyStore.getInstance("PKCS12");
        certificate.load(null, null);
        certificate.setCertificateEntry(
                "gateway",
                KeyStore.getInstance(ours.toFile(), KeyStores.PASSWORD).getCertificate("gateway"));
        try (OutputStream out = Files.newOutputStream(file)) {
            certificate.store(out, KeyStores.PASSWORD);
        }
        assertThatThrownBy(() -> GroupSecurity.mutualTls(file, KeyStores.PASSWORD))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with a key");
    }
}
