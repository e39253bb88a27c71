package dev.tandemkv.selection.internal.reservation;

import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.indexer.approximate.PredictedLease;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.Served;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The row of one selection id in the core-wide index: first a claim, while its reserve is on its way, then a live booking.
 *
 * <p>Whether the booking still counts is the ledger's to say ({@link LedgerEntry}, reached in the partition step only). What is here
 * decides who may act on the id, and is guarded by {@code this}; nothing foreign is called while it is held. What is volatile is written under
 * the lock as well, and may be read without it.
 */
public final class Reservation {

    /** How far the id has come. */
    public enum Stage {
        /** A reserve is on its way; lifecycle calls do not see it. */
        CLAIMED,
        /** Freed while on its way: nothing must come of it. */
        WITHDRAWN,
        /** Another booking, learned from a peer, took the id meanwhile. */
        REPLACED,
        /** The worker left between the booking and its hand-over. */
        WORKER_GONE,
        /** Booked; lifecycle calls by id act on it. */
        LIVE,
        /** Booked for a host that keeps the handle; lifecycle calls by id do not see it. */
        LEASED,
    }

    /**
     * Whose booking a mirrored row stands for.
     *
     * @param owner unsigned id of the replica that made it
     * @param attempt what that replica calls the attempt
     */
    public record Foreign(long owner, long attempt) {}

    /**
     * What a booking is to the knowledge of caches.
     *
     * @param served what serving it will say of the cache signal, or {@code null}
     * @param assumed keeps its blocks in use in the model of its rank's cache, or {@code null}
     */
    public record Knowledge(
            @Nullable Served served, @Nullable PredictedLease assumed) {

        /** Nothing. */
        public static final Knowledge NONE = new Knowledge(null, null);

        public static Knowledge of(@Nullable Served served, @Nullable PredictedLease assumed) {
            return served == null && assumed == null ? NONE : new Knowledge(served, assumed);
        }

        /** It was not installed: gives back what it keeps in use. */
        public void close() {
            if (assumed != null) {
                assumed.close();
            }
        }
    }

    private final String selectionId;
    private final Partition partition;
    private final long attemptId;
    private final Stage becomes;
    private final @Nullable Foreign foreign;

    private Stage stage = Stage.CLAIMED;
    private @Nullable Runnable withdrawal;
    private volatile @Nullable LedgerEntry entry;
    private @Nullable AffinityLease lease;
    private @Nullable Served served;
    private @Nullable PredictedLease assumed;
    private int assumedOutputs;
    /** Kept for the collector to find; written by the request's run alone, read where it makes no difference whether it is there yet. */
    private volatile LostHandles.@Nullable Watch watch;

    /** Its making is being told, or about to be; whoever does that then tells its end, if it ends meanwhile. */
    private boolean beingAdmitted;

    private volatile @Nullable CompletableFuture<EndReason> ended;
    private @Nullable EndReason endReason;
    private boolean told;
    private long toldAt;

    Reservation(
            String selectionId,
            Partition partition,
            long attemptId,
            Stage becomes,
            @Nullable Runnable withdrawal,
            @Nullable Foreign foreign) {
        this.selectionId = selectionId;
        this.partition = partition;
        this.attemptId = attemptId;
        this.becomes = becomes;
        this.withdrawal = withdrawal;
        this.foreign = foreign;
    }

    public String selectionId() {
        return selectionId;
    }

    public Partition partition() {
        return partition;
    }

    /** Tells this reserve from every other one, also under the same id. */
    public long attemptId() {
        return attemptId;
    }

    /** Whose booking this mirrors, or {@code null} for one of this core. */
    public @Nullable Foreign foreign() {
        return foreign;
    }

    /** A peer's booking takes the id of a reserve on its way; false if its booking is installed. */
    public synchronized boolean replace() {
        if (stage == Stage.CLAIMED) {
            stage = Stage.REPLACED;
            withdrawal = null;
        }
        return stage != Stage.LIVE && stage != Stage.LEASED;
    }

    /** Frees an id whose reserve is on its way; false if it is not on its way, or is its host's alone to give up. */
    public boolean withdraw() {
        Runnable stop;
        synchronized (this) {
            if (stage == Stage.WITHDRAWN) {
                return true;
            }
            if (stage != Stage.CLAIMED || becomes == Stage.LEASED) {
                return false;
            }
            stage = Stage.WITHDRAWN;
            stop = withdrawal;
            withdrawal = null;
        }
        if (stop != null) {
            stop.run();
        }
        return true;
    }

    /** Gives the claim up; false if it is none any more, and then its row is somebody else's to forget. */
    public synchronized boolean abandon() {
        if (stage == Stage.LIVE || stage == Stage.LEASED) {
            return false;
        }
        if (stage == Stage.CLAIMED) {
            stage = Stage.WITHDRAWN;
        }
        withdrawal = null;
        return true;
    }

    /**
     * Makes the claim a live booking, which from now on owns the leases. Whoever makes one of this core tells of it and then calls
     * {@link #admitted}.
     *
     * @return the stage reached: the one it was to become, or the one that prevents it, and then nothing was changed
     */
    public synchronized Stage install(LedgerEntry booked, @Nullable AffinityLease held, Knowledge known) {
        if (stage != Stage.CLAIMED) {
            return stage;
        }
        stage = becomes;
        withdrawal = null;
        beingAdmitted = foreign == null;
        entry = Objects.requireNonNull(booked, "booked");
        lease = held;
        served = known.served();
        assumed = known.assumed();
        return becomes;
    }

    /** Its making has been told. Why it is over, if it ended meanwhile and that is still to be told, else {@code null}. */
    public synchronized @Nullable EndReason admitted() {
        beingAdmitted = false;
        return endReason;
    }

    /** Whether its making has been told, so that what happens to it can be. */
    public synchronized boolean isAdmitted() {
        return !beingAdmitted;
    }

    /** The booking ended without its owner; false if it was not installed yet, and then it must not be any more. */
    synchronized boolean lost() {
        if (stage == Stage.CLAIMED) {
            stage = Stage.WORKER_GONE;
            withdrawal = null;
        }
        return stage == Stage.LIVE || stage == Stage.LEASED;
    }

    /** Completes, once, when the booking is over. */
    public synchronized CompletableFuture<EndReason> ended() {
        CompletableFuture<EndReason> told = ended;
        if (told == null) {
            told = new CompletableFuture<>();
            if (endReason != null) {
                told.complete(endReason);
            }
            ended = told;
        }
        return told;
    }

    /**
     * What is left to do for a booking that is over.
     *
     * @param lease the session lease, for its one release
     * @param served what its having been served says of the cache signal, unless that was told before
     * @param assumed what keeps its blocks in use in the model of its rank's cache, for its one release
     * @param admitted whether its making has been told; if not, whoever tells that will tell the end as well
     */
    public record Ended(
            @Nullable AffinityLease lease,
            @Nullable Served served,
            @Nullable PredictedLease assumed,
            boolean admitted) {}

    /** The booking is over: its handle need not be watched any more. */
    public synchronized Ended end(EndReason reason) {
        Ended left = new Ended(lease, served, assumed, !beingAdmitted);
        endReason = reason;
        watch = null;
        lease = null;
        served = null;
        assumed = null;
        return left;
    }

    /** Tells the owner, if it asked, why its booking is over; after {@link #end}. */
    public void tellEnded(EndReason reason) {
        CompletableFuture<EndReason> told = ended;
        if (told != null) {
            told.complete(reason);
        }
    }

    public synchronized Stage stage() {
        return stage;
    }

    /** The booking, or {@code null} for a claim. */
    public @Nullable LedgerEntry entry() {
        return entry;
    }

    /** The booking of an installed row. */
    public LedgerEntry booking() {
        LedgerEntry booked = entry;
        if (booked == null) {
            throw new IllegalStateException("a claim has no booking");
        }
        return booked;
    }

    /** The session lease, or {@code null}. */
    public synchronized @Nullable AffinityLease lease() {
        return lease;
    }

    /** Whether the owner of a mirrored booking is to be told of progress; if so, it is not for a while. */
    public synchronized boolean isDueToTell(long now, long quietNanos) {
        if (told && now - toldAt < quietNanos) {
            return false;
        }
        told = true;
        toldAt = now;
        return true;
    }

    /** Takes out, once, what its having been served says of the cache signal. */
    public synchronized @Nullable Served takeServed() {
        Served taken = served;
        served = null;
        return taken;
    }

    /** The request has produced so many blocks: where its rank's cache is modelled, they take room there. */
    public synchronized void grew(int blocks) {
        if (assumed != null) {
            assumedOutputs = (int) Math.min(Integer.MAX_VALUE, (long) assumedOutputs + blocks);
            assumed.materialize(null, BlockHashes.EMPTY, 0, assumedOutputs);
        }
    }

    void watchedBy(LostHandles.Watch by) {
        watch = by;
    }

    boolean isWatchedBy(LostHandles.Watch by) {
        return watch == by;
    }
}
