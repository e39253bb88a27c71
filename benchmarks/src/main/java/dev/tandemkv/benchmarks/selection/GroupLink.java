package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.adapters.jgroups.GroupDiscovery;
import dev.tandemkv.adapters.jgroups.GroupSecurity;
import dev.tandemkv.adapters.jgroups.GroupSettings;
import dev.tandemkv.adapters.jgroups.GroupStats;
import dev.tandemkv.adapters.jgroups.ReplicaGroup;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.host.ReplicaChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** A replica over JGroups and loopback. */
final class GroupLink implements ReplicaLink {

    private static final String PASSWORD = "benchmark";

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final ReplicaGroup group;

    static Pair openPair() {
        return pair(GroupSecurity.open());
    }

    /** With mutual TLS, and a key made for this. */
    static Pair securedPair() {
        try {
            Path folder = Files.createTempDirectory("group-key");
            Path file = folder.resolve("group.p12");
            String options = "-genkeypair -alias gateway -keyalg EC -dname CN=benchmark -validity 1 -storetype PKCS12"
                    + " -storepass " + PASSWORD + " -keystore " + file;
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
            command.addAll(List.of(options.split(" ", -1)));
            if (new ProcessBuilder(command).start().waitFor() != 0) {
                throw new IllegalStateException("keytool made no key");
            }
            GroupSecurity security = GroupSecurity.mutualTls(file, PASSWORD.toCharArray());
            Files.delete(file);
            Files.delete(folder);
            return pair(security);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static Pair pair(GroupSecurity security) {
        GroupLink first = new GroupLink(security);
        return new Pair(first, new GroupLink(security, first.group.address()));
    }

    private GroupLink(GroupSecurity security, InetSocketAddress... others) {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        group = ReplicaGroup.join(GroupSettings.builder(anyPort, GroupDiscovery.members(others))
                .cluster("benchmark")
                .security(security)
                .joinTimeout(Duration.ofMillis(300))
                .build());
    }

    @Override
    public ReplicaChannel channel() {
        return group;
    }

    @Override
    public Scheduler scheduler() {
        return Scheduler.of(timers);
    }

    @Override
    public long heardBy() {
        return group.stats().joined();
    }

    @Override
    public Sent sent() {
        GroupStats stats = group.stats();
        return new Sent(stats.sent(), stats.sentBytes(), stats.dropped());
    }

    @Override
    public void close() {
        group.close();
        timers.shutdownNow();
    }
}
