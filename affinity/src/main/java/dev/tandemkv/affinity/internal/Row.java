package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import java.util.ArrayDeque;

/**
 * What the table knows of one session; an absent session has no row. Rows are replaced, never changed, except for the queue of
 * waiters, which is touched only inside the map's atomic step on its session.
 */
public sealed interface Row {

    /** Local generation: a handle whose generation is not the row's has no say over it. */
    long revision();

    /**
     * One request makes the session's first dispatch, the others wait in the order they came.
     *
     * @param since tick at which it began
     */
    record Initializing(long revision, long since, ArrayDeque<Waiter> waiters) implements Row {}

    /**
     * @param leases uses held now, {@code reserved} included
     * @param reserved one of the leases is kept for the initializer, whose session was bound by somebody else meanwhile
     * @param idleDeadline tick at which the binding ends; matters only while nothing is leased
     * @param publishedAt tick of the last announcement to the replicas
     */
    record Bound(
            AffinityTarget target,
            long revision,
            AffinityVersion version,
            int leases,
            boolean reserved,
            long idleDeadline,
            long publishedAt)
            implements Row {

        boolean isExpired(long now) {
            return leases == 0 && idleDeadline - now <= 0;
        }

        Bound withLeases(int newLeases) {
            return new Bound(target, revision, version, newLeases, reserved, idleDeadline, publishedAt);
        }

        Bound withReservedTaken() {
            return new Bound(target, revision, version, leases, false, idleDeadline, publishedAt);
        }

        Bound withReservedReturned() {
            return new Bound(target, revision, version, leases - 1, false, idleDeadline, publishedAt);
        }

        Bound withIdleDeadline(long newDeadline) {
            return new Bound(target, revision, version, leases, reserved, newDeadline, publishedAt);
        }

        Bound withPublishedAt(long now) {
            return new Bound(target, revision, version, leases, reserved, idleDeadline, now);
        }

        Bound moved(AffinityTarget newTarget, AffinityVersion newVersion) {
            return new Bound(newTarget, revision, newVersion, leases, reserved, idleDeadline, publishedAt);
        }
    }
}
