package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;

/**
 * Names one booking instance. A release names the instance and never looks a worker up by id, so that a late release cannot hit the
 * booking of a retry under the same selection id.
 *
 * @param selectionId the caller's id, unique among live bookings of a core
 * @param worker the booked rank
 * @param attemptId 64 bits minted by the pool and never repeated
 */
public record BookingId(String selectionId, WorkerRank worker, long attemptId) {

    public BookingId {
        Objects.requireNonNull(selectionId, "selectionId");
        Objects.requireNonNull(worker, "worker");
    }
}
