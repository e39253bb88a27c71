package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.explain.DecisionLog;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.policy.PolicyComponents;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * What every part of one core shares. Immutable; its members are thread-safe.
 *
 * @param config the settings
 * @param host the host's ports
 * @param ticker monotonic time
 * @param clock wall time
 * @param scheduler runs what must happen by time alone
 * @param random the one source of randomness outside a partition step
 * @param observer the host's observers, guarded
 * @param afterwards runs what must not run inside a step
 * @param endings told of every booking that ended without its owner
 * @param counters what happened so far
 * @param policies which policy serves a partition
 * @param log where decisions are written, or {@code null}
 */
public record CoreContext(
        SelectionConfig config,
        SelectionHost host,
        Ticker ticker,
        Clock clock,
        Scheduler scheduler,
        SharedRandom random,
        SelectionObserver observer,
        Afterwards afterwards,
        Endings endings,
        Counters counters,
        Policies policies,
        @Nullable DecisionLog log) {

    /** Counts and tells that a booking was made; its end will be told by {@link #ended}. Called outside every lock. */
    public void booked(PartitionKey partition, BookingId booking) {
        counters.booked.increment();
        observer.onBooked(
                partition, booking.worker().workerId(), booking.worker().rank());
    }

    /** Counts and tells a booking that was taken back before anybody was told of it. Called outside every lock. */
    public void rolledBack(PartitionKey partition, BookingId booking) {
        booked(partition, booking);
        ended(partition, booking, EndReason.ROLLED_BACK);
    }

    /** Counts and tells the end of a booking. Called outside every lock. */
    public void ended(PartitionKey partition, BookingId booking, EndReason reason) {
        counters.ended(reason);
        observer.onEnded(
                partition, booking.worker().workerId(), booking.worker().rank(), reason);
    }

    /** Which policy serves a partition. */
    public interface Policies {
        Role roleOf(PartitionKey partition);

        String nameFor(PartitionKey partition);

        PolicyComponents componentsFor(PartitionKey partition);
    }

    /** Told of a booking that ended, or lost its worker before it was handed out. Called outside every lock. */
    @FunctionalInterface
    public interface Endings {
        void ended(LedgerEntry entry, EndReason reason);
    }
}
