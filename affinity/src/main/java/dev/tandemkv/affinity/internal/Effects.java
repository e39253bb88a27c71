package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a step on a row owes the outside; carried out by the caller when the row is no longer locked. Confined to one thread. */
public final class Effects {

    /** Made when there is one: most steps have none. */
    private @Nullable List<Grant> grants;

    private @Nullable Announcement announcement;
    private boolean stolen;
    private boolean duplicate;
    private int expired;

    /** A waiter, and what it was given. */
    public record Grant(Waiter waiter, Acquired acquired) {}

    /** A binding to tell the replicas of; without a target, that it ended. */
    public record Announcement(@Nullable AffinityTarget target, AffinityVersion version) {}

    void grant(Waiter waiter, Acquired acquired) {
        if (grants == null) {
            grants = new ArrayList<>();
        }
        grants.add(new Grant(waiter, acquired));
    }

    void announce(@Nullable AffinityTarget target, AffinityVersion version) {
        announcement = new Announcement(target, version);
    }

    void stole() {
        stolen = true;
    }

    void sawDuplicate() {
        duplicate = true;
    }

    void expired(int rows) {
        expired += rows;
    }

    public List<Grant> grants() {
        return grants == null ? List.of() : grants;
    }

    public @Nullable Announcement announcement() {
        return announcement;
    }

    public boolean isStolen() {
        return stolen;
    }

    /** Whether a replica told a version that was held already. */
    public boolean isDuplicate() {
        return duplicate;
    }

    /** Rows that a sweep removed on the way. */
    public int expiredRows() {
        return expired;
    }
}
