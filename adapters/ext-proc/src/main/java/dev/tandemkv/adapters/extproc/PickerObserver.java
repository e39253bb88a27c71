package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.WorkerRank;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Told what the picker did. Called on the exchange's thread, one call at a time for one exchange; what a method throws is logged. */
public interface PickerObserver {

    /** What a picker bounds over all its exchanges. */
    enum Limit {
        /** {@link PickerSettings#maxInFlight()}. */
        IN_FLIGHT,
        /** {@link PickerSettings#maxBufferedBytes()}. */
        BUFFERED_BYTES
    }

    /** An observer that ignores everything. */
    static PickerObserver none() {
        return new PickerObserver() {};
    }

    /**
     * A destination was given to the proxy.
     *
     * @param prefill the other leg, or {@code null} where one worker serves alone
     * @param took from the end of the request's body to the decision
     */
    default void onPicked(WorkerRank destination, @Nullable WorkerRank prefill, Duration took) {}

    /** A request was answered by the picker itself. */
    default void onRefused(int status) {}

    /** A request was shed because of a limit of the picker's own; {@link #onRefused} follows. */
    default void onLimit(Limit limit) {}

    /** The first bytes of the answer passed: prefill is over. */
    default void onPrefillComplete(WorkerRank destination) {}

    /**
     * The proxy sent the request elsewhere than it was told.
     *
     * @param served where it went, or {@code null} if no worker of the pool listens there
     */
    default void onServedElsewhere(WorkerRank picked, @Nullable WorkerRank served) {}

    /** The exchange is over and whatever it held is released. */
    default void onEnded() {}
}
