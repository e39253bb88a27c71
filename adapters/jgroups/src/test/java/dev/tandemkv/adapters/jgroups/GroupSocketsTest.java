package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What this process listens on, as Linux tells it. */
class GroupSocketsTest {

    private static final Path PROC = Path.of("/proc/self");
    private static final String LISTENS = "0A";

    /** Local addresses, in the kernel's hexadecimal, of TCP sockets of this process that listen and of all its UDP sockets. */
    private static Set<String> open() throws IOException {
        Set<String> own = new HashSet<>();
        try (Stream<Path> files = Files.list(PROC.resolve("fd"))) {
            for (Path file : files.toList()) {
                try {
                    own.add(Files.readSymbolicLink(file).toString());
                } catch (NoSuchFileException closedMeanwhile) {
                    // Nothing is open there any more.
                }
            }
        }
        Set<String> open = new HashSet<>();
        for (String kind : List.of("tcp", "tcp6", "udp", "udp6")) {
            Path table = PROC.resolve("net").resolve(kind);
            for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
                String[] fields = line.trim().split("\\s+");
                boolean waits = kind.startsWith("udp") || fields[3].equals(LISTENS);
                if (waits && own.contains("socket:[" + fields[9] + ']')) {
                    open.add(kind + ' ' + fields[1]);
                }
            }
        }
        return open;
    }

    private static Set<String> opened(Set<String> before) {
        try {
            Set<String> opened = open();
            opened.removeAll(before);
            return opened;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void member_listensOnTheAddressItWasTold_andNowhereElse() throws Exception {
        assumeTrue(Files.isDirectory(PROC.resolve("net")), "not on Linux");
        Set<String> before = open();
        try (Members members = new Members()) {
            ReplicaGroup a = members.pair().get(0);
            // One socket for each of the two members. Somebody else's look-up of a name may have one for a moment.
            Set<String> opened = new HashSet<>();
            Members.await(() -> {
                opened.clear();
                opened.addAll(opened(before));
                return opened.size() == 2;
            });
            assertThat(opened)
                    .allMatch(this::isLoopback)
                    .anyMatch(local ->
                            local.endsWith(String.format(":%04X", a.address().getPort())));
        }
        Members.await(() -> opened(before).isEmpty());
    }

    private boolean isLoopback(String local) {
        return local.startsWith("tcp 0100007F:") || local.startsWith("tcp6 0000000000000000FFFF00000100007F:");
    }

    @Test
    void systemPropertiesForOtherGroups_moveNothing() throws Exception {
        String name = "jgroups.bind_addr";
        System.setProperty(name, "127.0.0.3");
        try (Members members = new Members()) {
            InetSocketAddress address = members.join(members.settings()).address();
            assertThat(address.getAddress()).isEqualTo(InetAddress.getLoopbackAddress());
        } finally {
            System.clearProperty(name);
        }
    }
}
