package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.testkit.replica.ReplicaGateway;
import dev.tandemkv.testkit.replica.ReplicaNetwork;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.stack.ProtocolStack;

/** Gateways of one process that are one group over loopback, on any free ports. */
final class GroupNetwork implements ReplicaNetwork {

    static final Duration PATIENCE = Duration.ofSeconds(40);

    /** How long a first member looks for others. */
    static final Duration ALONE = Duration.ofMillis(150);

    /** How long a member that knows others looks for them, and waits to be let in before it asks again. */
    static final Duration JOINING = Duration.ofSeconds(5);

    private static final Duration ORPHANS = Duration.ofMinutes(5);
    private static final int TOPICS = 2;

    private final String cluster = "test-" + UUID.randomUUID();
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final GroupSecurity security;
    private final List<ReplicaGateway> gateways = new ArrayList<>();
    private final List<ReplicaGroup> dead = new ArrayList<>();

    GroupNetwork() {
        this(GroupSecurity.open());
    }

    GroupNetwork(GroupSecurity security) {
        this.security = security;
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /** How often parts look for each other where a test is about that. While they come together nobody can leave in order. */
    static final Duration MERGING = Duration.ofMillis(400);

    /** Quick to join; slow to suspect who is silent, since a busy machine makes members silent, and to look for other parts. */
    static GroupSettings.Builder quick(String cluster, InetSocketAddress... others) {
        return GroupSettings.builder(anyPort(), GroupDiscovery.members(others))
                .cluster(cluster)
                // Whoever finds somebody goes on at once, and may need long for it on a busy machine.
                .joinTimeout(others.length == 0 ? ALONE : JOINING)
                // A timer counts it in quarters: a pause of the whole process counts as one. Whom only silence tells of
                // is gone a quarter and 3 s later at most, well within PATIENCE; with 30 s that would not be.
                .suspectAfter(Duration.ofSeconds(15))
                .mergeEvery(Duration.ofSeconds(5));
    }

    static ReplicaGroup group(ReplicaGateway gateway) {
        return (ReplicaGroup) gateway.channel();
    }

    @Override
    public ReplicaGateway join() {
        InetSocketAddress[] others =
                gateways.stream().map(other -> group(other).address()).toArray(InetSocketAddress[]::new);
        long[] heard = gateways.stream()
                .mapToLong(other -> group(other).stats().joined())
                .toArray();
        ReplicaGroup group =
                ReplicaGroup.join(quick(cluster, others).security(security).build());
        ReplicaGateway gateway = new ReplicaGateway(group, Scheduler.of(timers), ORPHANS);
        for (int i = 0; i < heard.length; i++) {
            ReplicaGateway other = gateways.get(i);
            long listens = heard[i] + TOPICS;
            await(other, () -> group(other).stats().joined() >= listens);
        }
        gateways.add(gateway);
        gateways.forEach(each -> await(each, () -> group(each).stats().members() == gateways.size()));
        return gateway;
    }

    private static void await(ReplicaGateway at, BooleanSupplier condition) {
        if (!at.comesTrue(condition, PATIENCE)) {
            throw new AssertionError("the group does not form: " + group(at).members());
        }
    }

    /**
     * Its connections break, and it neither says nor hears anything any more. The others ask it once more, which is in vain, so they need not
     * wait long for its answer; nor need it wait for theirs when it is closed.
     */
    @Override
    public void kill(ReplicaGateway gateway) {
        ReplicaGroup group = group(gateway);
        gateways.remove(gateway);
        for (ReplicaGateway survivor : gateways) {
            VERIFY_SUSPECT2 verification = group(survivor).channel().stack().findProtocol(VERIFY_SUSPECT2.class);
            verification.setTimeout(ALONE.toMillis());
        }
        ProtocolStack stack = group.channel().stack();
        GMS membership = stack.findProtocol(GMS.class);
        membership.setLeaveTimeout(1);
        DISCARD silence = new DISCARD().discardAll(true);
        try {
            stack.insertProtocolInStack(silence, stack.getTransport(), ProtocolStack.Position.ABOVE);
            ((TCP) stack.getTransport()).clearConnections(false);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        dead.add(group);
    }

    @Override
    public void close() {
        for (ReplicaGateway gateway : gateways) {
            gateway.close();
            gateway.channel().close();
        }
        dead.forEach(ReplicaGroup::close);
        timers.shutdownNow();
    }
}
