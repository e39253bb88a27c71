package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillMark;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.Served;
import dev.tandemkv.selection.internal.reservation.Reservation;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What can be done to a booking once it is installed. Thread-safe; each call takes effect in the partition step, at once unless somebody is
 * in it, and each acts on exactly the booking it was given.
 */
public final class Lifecycle {

    private static final CompletionStage<FreeOutcome> FREED = CompletableFuture.completedStage(FreeOutcome.FREED);
    private static final CompletionStage<FreeOutcome> GONE = CompletableFuture.completedStage(FreeOutcome.ALREADY_GONE);

    private final Engine engine;

    Lifecycle(Engine engine) {
        this.engine = engine;
    }

    /** How a request ended; a session waits for one that ends well. */
    public enum Ending {
        WELL,
        FAILED,
        /** Nobody was there to be given the booking. */
        NOT_BEGUN
    }

    /** Releases a booking whose request ended well. */
    public CompletionStage<FreeOutcome> free(Reservation row) {
        return free(row, Ending.WELL);
    }

    /** Takes an installed booking back from a caller that has gone. */
    void takeBack(Reservation row) {
        free(row, Ending.NOT_BEGUN);
    }

    /** Releases a booking. */
    public CompletionStage<FreeOutcome> free(Reservation row, Ending ending) {
        LedgerEntry entry = row.booking();
        Partition in = row.partition();
        if (in.mailbox().tryEnter()) {
            boolean freed;
            try {
                freed = free(in, row, entry);
            } finally {
                in.mailbox().leave();
            }
            return freed ? released(row, entry, ending) : GONE;
        }
        return later(in, p -> free(p, row, entry), freed -> {
            if (freed) {
                released(row, entry, ending);
            }
            return freed ? FreeOutcome.FREED : FreeOutcome.ALREADY_GONE;
        });
    }

    /** Inside the step, so that whoever is served next finds the id free. */
    private boolean free(Partition in, Reservation row, LedgerEntry entry) {
        boolean freed = in.free(entry);
        if (freed) {
            engine.reservations().forget(row);
        }
        return freed;
    }

    private CompletionStage<FreeOutcome> released(Reservation row, LedgerEntry entry, Ending ending) {
        engine.settle(row, entry, ending == Ending.NOT_BEGUN ? EndReason.ROLLED_BACK : EndReason.FREED, ending);
        engine.freed(row, entry);
        return FREED;
    }

    private static void served(Reservation row, LedgerEntry entry) {
        Served prompt = row.takeServed();
        if (prompt != null) {
            row.partition().cache().trust().served(entry.id().worker(), prompt);
        }
    }

    /** Ends the prefill load, and tells replicas so each time; the answer tells whether the booking is live. */
    public CompletionStage<Boolean> prefillComplete(Reservation row) {
        return prefillComplete(row, mark -> true);
    }

    /** As {@link #prefillComplete}, on a peer's word: what changes nothing is not told on. */
    public CompletionStage<Boolean> prefillCompleteByPeer(Reservation row) {
        return prefillComplete(row, mark -> mark == PrefillMark.MARKED);
    }

    private CompletionStage<Boolean> prefillComplete(Reservation row, Predicate<PrefillMark> isTold) {
        LedgerEntry entry = row.booking();
        return inStep(row.partition(), p -> p.markPrefill(entry), mark -> {
            boolean live = mark != PrefillMark.GONE;
            if (live) {
                AffinityLease lease = row.lease();
                if (lease != null) {
                    Sessions.quietly(lease::firstToken);
                }
                engine.progressed(row, entry);
                served(row, entry);
                if (isTold.test(mark)) {
                    engine.prefillEnded(row, entry);
                }
            }
            return live;
        });
    }

    /** Counts output blocks; the answer tells whether the booking is live. */
    public CompletionStage<Boolean> addOutputBlocks(Reservation row, int blocks, @Nullable Double remainingFraction) {
        LedgerEntry entry = row.booking();
        return inStep(row.partition(), p -> p.addOutputBlocks(entry, blocks, remainingFraction), live -> {
            if (live) {
                row.grew(blocks);
                engine.progressed(row, entry);
                engine.touched(row, entry);
            }
            return live;
        });
    }

    /** Renews a lease; the answer tells whether the booking is live. */
    public CompletionStage<Boolean> touch(Reservation row) {
        LedgerEntry entry = row.booking();
        return inStep(row.partition(), p -> p.touch(entry), live -> {
            if (live) {
                engine.touched(row, entry);
            }
            return live;
        });
    }

    /** Charges the prefill of a booking that was made without it. */
    CompletionStage<ChargeOutcome> chargePrefill(Reservation row, long tokens) {
        LedgerEntry entry = row.booking();
        return inStep(
                row.partition(),
                p -> engine.charge(p, row, entry, tokens),
                charged -> charged ? ChargeOutcome.CHARGED : ChargeOutcome.UNSUPPORTED);
    }

    /** A handle was lost: its booking goes on under its lease, and the loss is told. */
    public void orphan(Reservation row) {
        LedgerEntry entry = row.booking();
        inStep(row.partition(), p -> p.orphan(entry), live -> {
            if (live) {
                engine.leaked(row, entry);
            }
            return live;
        });
    }

    private static <A, B> CompletionStage<B> inStep(Partition in, Function<Partition, A> work, Function<A, B> after) {
        if (in.mailbox().tryEnter()) {
            A done;
            try {
                done = work.apply(in);
            } finally {
                in.mailbox().leave();
            }
            return CompletableFuture.completedStage(after.apply(done));
        }
        return later(in, work, after);
    }

    private static <A, B> CompletionStage<B> later(Partition in, Function<Partition, A> work, Function<A, B> after) {
        PendingStage<B> stage = new PendingStage<>();
        in.mailbox().submit(() -> {
            try {
                A done = work.apply(in);
                in.mailbox().afterwards(() -> settle(stage, done, after));
            } catch (RuntimeException | Error e) {
                in.mailbox().afterwards(() -> stage.fail(e));
            }
        });
        return stage;
    }

    private static <A, B> void settle(PendingStage<B> stage, A done, Function<A, B> after) {
        try {
            stage.settle(after.apply(done));
        } catch (RuntimeException | Error e) {
            stage.fail(e);
        }
    }
}
