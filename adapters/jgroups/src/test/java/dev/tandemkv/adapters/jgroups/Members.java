package dev.tandemkv.adapters.jgroups;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Members without cores, ended together, and waiting for what they must come to. */
final class Members implements AutoCloseable {

    private static final long LOOK_AGAIN_MILLIS = 5;

    final String cluster = "test-" + UUID.randomUUID();
    private final List<ReplicaGroup> all = new ArrayList<>();

    GroupSettings.Builder settings(ReplicaGroup... others) {
        return GroupNetwork.quick(
                cluster, Arrays.stream(others).map(ReplicaGroup::address).toArray(InetSocketAddress[]::new));
    }

    ReplicaGroup join(GroupSettings.Builder settings) {
        ReplicaGroup member = ReplicaGroup.join(settings.build());
        all.add(member);
        return member;
    }

    /** Two that know each other. */
    List<ReplicaGroup> pair() {
        ReplicaGroup a = join(settings());
        ReplicaGroup b = join(settings(a));
        awaitMembers(2, a, b);
        return List.of(a, b);
    }

    static void awaitMembers(int members, ReplicaGroup... groups) {
        for (ReplicaGroup group : groups) {
            await(() -> group.stats().members() == members, group::members);
        }
    }

    static void await(BooleanSupplier condition) {
        await(condition, () -> "it did not come true");
    }

    private static void await(BooleanSupplier condition, Supplier<?> otherwise) {
        long until = System.nanoTime() + Duration.ofSeconds(40).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - until > 0) {
                throw new AssertionError(otherwise.get());
            }
            pause();
        }
    }

    private static synchronized void pause() {
        try {
            Members.class.wait(LOOK_AGAIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        all.forEach(ReplicaGroup::close);
    }
}
