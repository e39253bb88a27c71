package dev.tandemkv.selection;

/**
 * What a core did since it was built, and what it holds. An immutable snapshot; its figures are read one after the other, so they may
 * belong to slightly different instants.
 *
 * @param selected decisions
 * @param failed requests that ended with an error
 * @param booked bookings made; each ends in exactly one of the next four
 * @param freed bookings released by their owner
 * @param rolledBack bookings whose caller was gone before it was given them, or that a later step made void
 * @param expired bookings whose lease ran out
 * @param workerRemoved bookings whose worker left
 * @param queued requests that waited
 * @param degraded decisions on a lower rung than the configured one
 * @param leaked handles lost without close
 * @param unpinned requests that went on without their session, because a limit was met
 * @param subBlock prompts shorter than a block
 * @param sharedCacheErrors questions that the shared cache did not answer
 * @param alarms alarms that the cache signals raised
 * @param approximate decisions that rested on what bookings imply
 * @param loadOnly decisions that rested on load alone; the other ones rested on an exact index
 * @param reservations ids that are taken now, those in flight included
 * @param pendingSelections selections that can be replayed now
 */
public record SelectionStats(
        long selected,
        long failed,
        long booked,
        long freed,
        long rolledBack,
        long expired,
        long workerRemoved,
        long queued,
        long degraded,
        long leaked,
        long unpinned,
        long subBlock,
        long sharedCacheErrors,
        long alarms,
        long approximate,
        long loadOnly,
        int reservations,
        int pendingSelections) {

    /** What happened since an earlier snapshot; what is held stays as it is now. */
    public SelectionStats minus(SelectionStats earlier) {
        return new SelectionStats(
                selected - earlier.selected,
                failed - earlier.failed,
                booked - earlier.booked,
                freed - earlier.freed,
                rolledBack - earlier.rolledBack,
                expired - earlier.expired,
                workerRemoved - earlier.workerRemoved,
                queued - earlier.queued,
                degraded - earlier.degraded,
                leaked - earlier.leaked,
                unpinned - earlier.unpinned,
                subBlock - earlier.subBlock,
                sharedCacheErrors - earlier.sharedCacheErrors,
                alarms - earlier.alarms,
                approximate - earlier.approximate,
                loadOnly - earlier.loadOnly,
                reservations,
                pendingSelections);
    }
}
