package dev.tandemkv.selection.internal.run;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.reservation.Reservation;
import java.util.concurrent.CompletionStage;

/** Owns one booking of the core. Immutable; what it does is the ledger's to serialise. */
final class BookingHandle implements Booking {

    private final Lifecycle lifecycle;
    private final Reservation reservation;
    private final Selection selection;

    BookingHandle(Lifecycle lifecycle, Reservation reservation, Selection selection) {
        this.lifecycle = lifecycle;
        this.reservation = reservation;
        this.selection = selection;
    }

    Reservation reservation() {
        return reservation;
    }

    /** The calls of the core that made it, whichever core is asked. */
    Lifecycle lifecycle() {
        return lifecycle;
    }

    @Override
    public BookingId id() {
        return reservation.booking().id();
    }

    @Override
    public Selection selection() {
        return selection;
    }

    @Override
    public void prefillComplete() {
        lifecycle.prefillComplete(reservation);
    }

    @Override
    public void addOutputBlocks(int blocks) {
        requirePositive(blocks);
        lifecycle.addOutputBlocks(reservation, blocks, null);
    }

    @Override
    public void addOutputBlocks(int blocks, double remainingFraction) {
        requirePositive(blocks);
        BookingLedger.requireFraction(remainingFraction);
        lifecycle.addOutputBlocks(reservation, blocks, remainingFraction);
    }

    static void requirePositive(int blocks) {
        if (blocks < 1) {
            throw new BadRequestException("blocks", blocks, ">= 1");
        }
    }

    @Override
    public CompletionStage<EndReason> ended() {
        return reservation.ended().minimalCompletionStage();
    }

    @Override
    public void close() {
        lifecycle.free(reservation);
    }

    @Override
    public String toString() {
        return "Booking[" + id() + ']';
    }
}
