package dev.tandemkv.adapters.jgroups;

import static dev.tandemkv.selection.host.ReplicaChannel.BOOKINGS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupSecurityTest {

    private static final char[] PASSWORD = "only a test".toCharArray();

    @TempDir
    static Path directory;

    private static Path ours;
    private static Path another;

    @BeforeAll
    static void makeKeys() throws Exception {
        ours = keyStore("ours");
        another = keyStore("another");
    }

    private static Path keyStore(String name) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "gateway",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile())
                .start();
        assertThat(keytool.waitFor(40, TimeUnit.SECONDS)).isTrue();
        assertThat(keytool.exitValue()).isZero();
        return file;
    }

    private static GroupSecurity with(Path keyStore) {
        return GroupSecurity.mutualTls(keyStore, PASSWORD);
    }

    @Test
    void strangers_areNoMembers_andAreNotHeard() throws Exception {
        try (Members members = new Members()) {
            ReplicaGroup a = members.join(members.settings().security(with(ours)));
            ReplicaGroup open = members.join(members.settings(a));
            ReplicaGroup foreign = members.join(members.settings(a).security(with(another)));
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
    void keyStoreThatCannotBeRead_isRefused() {
        assertThatThrownBy(() -> GroupSecurity.mutualTls(ours, "wrong".toCharArray()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keyStore");
        assertThatThrownBy(() -> GroupSecurity.mutualTls(directory.resolve("none"), PASSWORD))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
