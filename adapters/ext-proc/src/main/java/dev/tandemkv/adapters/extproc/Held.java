package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionPool;
import org.jspecify.annotations.Nullable;

/** What a request holds from its decision to its end. Every method may be repeated; none waits. */
sealed interface Held {

    WorkerRank destination();

    /** The other leg, or {@code null} where one worker serves alone. */
    @Nullable
    WorkerRank prefill();

    void prefillComplete();

    /** The same without what only a second booking elsewhere would need, the prompt above all: an answer may run for long. */
    default Held settled() {
        return this;
    }

    /** Keeps a booking that its pool owns by id. */
    void touch();

    void close();

    /**
     * One booking.
     *
     * @param request what it was made by, or {@code null} once nothing is booked by it any more
     */
    record One(
            SelectionPool pool, Booking booking, @Nullable SelectRequest request) implements Held {

        @Override
        public Held settled() {
            return new One(pool, booking, null);
        }

        @Override
        public WorkerRank destination() {
            return booking.selection().worker();
        }

        @Override
        public @Nullable WorkerRank prefill() {
            return null;
        }

        @Override
        public void prefillComplete() {
            booking.prefillComplete();
        }

        @Override
        public void touch() {
            pool.touch(booking);
        }

        @Override
        public void close() {
            booking.close();
        }
    }

    /** Both legs of a plan; the coordinator renews its bookings itself. */
    record Pair(DisaggCoordinator coordinator, RoutingPlan plan, WorkerRank destination) implements Held {

        static Pair of(DisaggCoordinator coordinator, RoutingPlan plan) {
            WorkerRank decode = plan.selection(Leg.DECODE)
                    .orElseThrow(() -> new IllegalStateException("a plan without a decode leg"))
                    .worker();
            return new Pair(coordinator, plan, decode);
        }

        @Override
        public @Nullable WorkerRank prefill() {
            return plan.isBypass()
                    ? null
                    : plan.selection(Leg.PREFILL)
                            .map(selection -> selection.worker())
                            .orElse(null);
        }

        @Override
        public void prefillComplete() {
            coordinator.prefillComplete(plan);
        }

        @Override
        public void touch() {}

        @Override
        public void close() {
            plan.close();
        }
    }
}
