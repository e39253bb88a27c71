package dev.tandemkv.selection.internal.run;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.Attempted;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.ReservationRequest;
import dev.tandemkv.selection.Reserved;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectRequest.Mode;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.reservation.Reservation;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The operations of a core on requests and bookings: which run or which reservation a call means. Thread-safe, stateless. */
public final class Requests {

    private final Engine engine;

    public Requests(Engine engine) {
        this.engine = engine;
    }

    // ---- choosing

    public CompletionStage<Selection> select(SelectRequest request) {
        return new SelectRun<>(engine, request, purposeOf(request), Delivery.DECISION).start();
    }

    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return book(request, Delivery.HANDLE);
    }

    public CompletionStage<Selection> reserve(SelectRequest request) {
        return book(request, Delivery.BY_ID);
    }

    public CompletionStage<Booking> lease(SelectRequest request) {
        return book(request, Delivery.LEASE);
    }

    public CompletionStage<Reserved> createReservation(ReservationRequest request) {
        try {
            engine.requireOpen();
            return request.worker() == null ? ReserveRun.replay(engine, request) : ReserveRun.explicit(engine, request);
        } catch (SelectionException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    public Attempted<Selection> trySelect(SelectRequest request) {
        return now(new SelectRun<>(engine, request, purposeOf(request), Delivery.DECISION).startNow());
    }

    public Attempted<Booking> tryReserve(SelectRequest request) {
        if (request.mode() == Mode.ADVISORY) {
            return new Attempted.Refused<>(advisoryBooking());
        }
        return now(new SelectRun<>(engine, request, Purpose.BOOK, Delivery.HANDLE).startNow());
    }

    private <T> CompletionStage<T> book(SelectRequest request, Delivery<T> delivery) {
        return request.mode() == Mode.ADVISORY
                ? CompletableFuture.failedStage(advisoryBooking())
                : new SelectRun<>(engine, request, Purpose.BOOK, delivery).start();
    }

    private static BadRequestException advisoryBooking() {
        return new BadRequestException("advisory", true, "false for what is booked");
    }

    private static Purpose purposeOf(SelectRequest request) {
        return request.mode() == Mode.ADVISORY ? Purpose.ADVISORY : Purpose.QUERY;
    }

    private static <T> Attempted<T> now(CompletableFuture<T> stage) {
        if (!stage.isDone() && stage.cancel(false)) {
            return new Attempted.WouldWait<>();
        }
        try {
            return new Attempted.Done<>(stage.join());
        } catch (CompletionException e) {
            if (SelectRun.wouldWait(e.getCause())) {
                return new Attempted.WouldWait<>();
            }
            if (e.getCause() instanceof SelectionException known) {
                return new Attempted.Refused<>(known);
            }
            throw e;
        } catch (CancellationException e) {
            return new Attempted.Refused<>(new CancelledException("selection"));
        }
    }

    // ---- by handle

    public CompletionStage<FreeOutcome> free(Booking booking) {
        Reservation row = reservationOf(booking);
        return row == null
                ? CompletableFuture.completedStage(FreeOutcome.ALREADY_GONE)
                : lifecycleOf(booking).free(row);
    }

    public CompletionStage<FreeOutcome> freeFailed(Booking booking) {
        Reservation row = reservationOf(booking);
        return row == null
                ? CompletableFuture.completedStage(FreeOutcome.ALREADY_GONE)
                : lifecycleOf(booking).free(row, Lifecycle.Ending.FAILED);
    }

    public CompletionStage<@Nullable Void> prefillComplete(Booking booking) {
        Reservation row = reservationOf(booking);
        return row == null
                ? CompletableFuture.completedStage(null)
                : lifecycleOf(booking).prefillComplete(row).thenApply(live -> null);
    }

    public CompletionStage<@Nullable Void> touch(Booking booking) {
        Reservation row = reservationOf(booking);
        return row == null
                ? CompletableFuture.completedStage(null)
                : lifecycleOf(booking).touch(row).thenApply(live -> null);
    }

    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        Reservation row = reservationOf(booking);
        return row == null
                ? CompletableFuture.completedStage(ChargeOutcome.UNSUPPORTED)
                : lifecycleOf(booking).chargePrefill(row, booking.selection().effectivePrefillTokens());
    }

    /** A handle of another core is that core's to act on. */
    private Lifecycle lifecycleOf(Booking booking) {
        return booking instanceof BookingHandle handle ? handle.lifecycle() : engine.lifecycle();
    }

    /** The reservation of a booking, or {@code null} if it is over. */
    private @Nullable Reservation reservationOf(Booking booking) {
        if (booking instanceof BookingHandle own) {
            return own.reservation();
        }
        BookingId id = booking.id();
        Reservation row = engine.reservations().find(id);
        boolean installed = row != null
                && (row.stage() == Reservation.Stage.LIVE || row.stage() == Reservation.Stage.LEASED)
                && row.booking().id().equals(id);
        return installed ? row : null;
    }

    // ---- by id

    /** Releases what is booked under an id, or withdraws what is on its way to it. */
    public CompletionStage<FreeOutcome> free(String selectionId) {
        Reservation row = engine.reservations().find(selectionId);
        if (row == null || row.stage() == Reservation.Stage.LEASED) {
            return CompletableFuture.completedStage(FreeOutcome.ALREADY_GONE);
        }
        if (row.withdraw()) {
            return CompletableFuture.completedStage(FreeOutcome.FREED);
        }
        Reservation live = live(selectionId);
        return live == null
                ? CompletableFuture.completedStage(FreeOutcome.ALREADY_GONE)
                : engine.lifecycle().free(live);
    }

    public CompletionStage<@Nullable Void> prefillComplete(String selectionId) {
        return ifLive(selectionId, row -> engine.lifecycle().prefillComplete(row));
    }

    public CompletionStage<@Nullable Void> addOutputBlocks(String selectionId, int blocks, @Nullable Double fraction) {
        try {
            BookingHandle.requirePositive(blocks);
            if (fraction != null) {
                BookingLedger.requireFraction(fraction);
            }
        } catch (SelectionException e) {
            return CompletableFuture.failedStage(e);
        }
        return ifLive(selectionId, row -> engine.lifecycle().addOutputBlocks(row, blocks, fraction));
    }

    public CompletionStage<@Nullable Void> touch(String selectionId) {
        return ifLive(selectionId, row -> engine.lifecycle().touch(row));
    }

    private interface Progress {
        CompletionStage<Boolean> on(Reservation row);
    }

    private CompletionStage<@Nullable Void> ifLive(String selectionId, Progress progress) {
        Reservation row = live(selectionId);
        if (row == null) {
            return CompletableFuture.failedStage(new NotFoundException("reservation", selectionId));
        }
        return progress.on(row).thenApply(live -> {
            if (!live) {
                throw new NotFoundException("reservation", selectionId);
            }
            return null;
        });
    }

    private @Nullable Reservation live(String selectionId) {
        Reservation row = engine.reservations().find(selectionId);
        return row != null && row.stage() == Reservation.Stage.LIVE ? row : null;
    }
}
