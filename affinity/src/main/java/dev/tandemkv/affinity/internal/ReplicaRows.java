package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import dev.tandemkv.affinity.ReplicaApplyOutcome;
import dev.tandemkv.affinity.internal.Row.Bound;
import dev.tandemkv.affinity.internal.Row.Initializing;
import dev.tandemkv.affinity.internal.Rows.Step;
import dev.tandemkv.catalog.time.Ticker;
import java.util.function.BiConsumer;

/** The transitions that replicas cause, and what is told to them by time alone. Thread-safe. */
public final class ReplicaRows {

    private final Rows rows;
    private final Tombstones tombstones;
    private final Ticker ticker;

    public ReplicaRows(Rows rows, Tombstones tombstones, Ticker ticker) {
        this.rows = rows;
        this.tombstones = tombstones;
        this.ticker = ticker;
    }

    /**
     * Applies what a replica said of a binding. The version clock has seen the version already.
     *
     * @param life how long the binding lives on by that word, in nanoseconds; at most the TTL
     */
    public ReplicaApplyOutcome applyBinding(
            String sessionId, AffinityTarget target, AffinityVersion version, long life, Effects effects) {
        long now = ticker.read();
        return rows.step(sessionId, row -> {
            if (rows.isClosed()) {
                return new Step<>(row, ReplicaApplyOutcome.REJECTED_CLOSED);
            }
            if (row instanceof Initializing) {
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_INITIALIZING);
            }
            if (row instanceof Bound bound && !bound.isExpired(now)) {
                return applyToBound(bound, target, version, now, life, effects);
            }
            if (tombstones.covers(sessionId, version, now)) {
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_CONFLICT);
            }
            if (row == null && !rows.reserve()) {
                return new Step<>(null, ReplicaApplyOutcome.REJECTED_CAPACITY);
            }
            Bound learned = new Bound(target, rows.newRevision(), version, 0, false, now + life, now);
            return new Step<>(
                    learned, row == null ? ReplicaApplyOutcome.INSERTED : ReplicaApplyOutcome.REPLACED_EXPIRED);
        });
    }

    private Step<ReplicaApplyOutcome> applyToBound(
            Bound bound, AffinityTarget target, AffinityVersion version, long now, long life, Effects effects) {
        int age = version.compareTo(bound.version());
        boolean sameTarget = target.equals(bound.target());
        if (age > 0 || (age == 0 && sameTarget)) {
            if (age == 0) {
                effects.sawDuplicate();
            }
            long deadline = Math.max(0, bound.idleDeadline() - now - life) + now + life;
            Bound updated = bound.moved(target, version).withIdleDeadline(deadline);
            return new Step<>(updated, sameTarget ? ReplicaApplyOutcome.REFRESHED : ReplicaApplyOutcome.REPLACED_NEWER);
        }
        return new Step<>(bound, ReplicaApplyOutcome.IGNORED_CONFLICT);
    }

    /** Applies a replica's word that a binding ended. */
    public ReplicaApplyOutcome applyTombstone(String sessionId, AffinityVersion version) {
        long now = ticker.read();
        return rows.step(sessionId, row -> {
            if (rows.isClosed()) {
                return new Step<>(row, ReplicaApplyOutcome.REJECTED_CLOSED);
            }
            if (row instanceof Initializing) {
                tombstones.bury(sessionId, version, now);
                return new Step<>(row, ReplicaApplyOutcome.IGNORED_INITIALIZING);
            }
            if (row instanceof Bound bound && bound.version().isNewerThan(version)) {
                return new Step<>(bound, ReplicaApplyOutcome.IGNORED_CONFLICT);
            }
            tombstones.bury(sessionId, version, now);
            return new Step<>(null, row == null ? ReplicaApplyOutcome.REMEMBERED : ReplicaApplyOutcome.REMOVED);
        });
    }

    /** Announces the leased bindings of which the replicas have heard nothing for this long, so that their copies live on. */
    public void refreshLeased(long quietNanos, BiConsumer<String, Effects> afterwards) {
        long now = ticker.read();
        for (var entry : rows.entries()) {
            if (isQuiet(entry.getValue(), now, quietNanos)) {
                Effects effects = new Effects();
                rows.step(entry.getKey(), row -> {
                    if (row instanceof Bound bound && isQuiet(bound, now, quietNanos)) {
                        effects.announce(bound.target(), bound.version());
                        return new Step<>(bound.withPublishedAt(now), true);
                    }
                    return new Step<>(row, false);
                });
                afterwards.accept(entry.getKey(), effects);
            }
        }
    }

    private static boolean isQuiet(Row row, long now, long quietNanos) {
        return row instanceof Bound bound && bound.leases() > 0 && now - bound.publishedAt() >= quietNanos;
    }
}
