package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.Experimental;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import java.util.List;
import java.util.Optional;

/**
 * The bookings of one request and their history: the handle that owns them. Whoever gets one closes it, on every path; {@link
 * DisaggCoordinator#release} does the same and tells what the pools answered. Thread-safe; closing is idempotent.
 *
 * <p>A plan whose handle is lost without a close is reported, and released when the lease has passed.
 */
public interface RoutingPlan extends AutoCloseable {

    /** The id of the request. */
    String id();

    /** The order it was planned in; a {@link PlanOrder#JOINT} plan that fell back says {@link PlanOrder#PREFILL_ANCHORED}. */
    PlanOrder order();

    LinkedBookingState state();

    /** Every state passed, starting with {@link LinkedBookingState#IDLE}. */
    List<LinkedBookingState> transitions();

    /** The calls made to the pools, as they ended, oldest first; at most 256 are kept, the earliest ones. */
    List<PlanEvent> events();

    /** The booking of a leg while it is held. */
    Optional<Booking> booking(Leg leg);

    /** The decision last booked for a leg; stays after the booking is gone. */
    Optional<Selection> selection(Leg leg);

    /** Whether decode serves the request alone. */
    boolean isBypass();

    /** How it was decided whether to skip remote prefill; empty where nothing was decided. */
    Optional<BypassDecision> bypassDecision();

    /** How the pair was chosen; present in a joint plan only. */
    @Experimental
    Optional<JointDecision> jointDecision();

    /** The constraint that the first booking puts on the second; empty if there is none. */
    Optional<TransferConstraint> constraint();

    /** Releases not confirmed yet. */
    List<PendingFree> pendingFrees();

    /** Releases everything that is held. Does not wait. */
    @Override
    void close();
}
