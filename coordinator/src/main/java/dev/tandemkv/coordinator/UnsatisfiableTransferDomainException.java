package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * No worker of the second pool lies in the transfer domain that the first booking requires, though the request would have found one
 * without it; or the two workers' required domains exclude each other. Kind {@code NO_ELIGIBLE_WORKER}.
 */
public final class UnsatisfiableTransferDomainException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final transient WorkerRank anchor;
    private final String taint;
    private final transient PlanHistory history;

    public UnsatisfiableTransferDomainException(
            WorkerRank anchor, String taint, @Nullable Throwable cause, PlanHistory history) {
        super(
                Kind.NO_ELIGIBLE_WORKER,
                "no worker can be paired with " + anchor + " of " + history.planId() + ": required taint " + taint
                        + "; transitions " + history.transitionNames(),
                cause);
        this.anchor = Objects.requireNonNull(anchor, "anchor");
        this.taint = Objects.requireNonNull(taint, "taint");
        this.history = history;
    }

    /** The worker booked first. */
    public WorkerRank anchor() {
        return anchor;
    }

    /** The taint nobody carries. */
    public String taint() {
        return taint;
    }

    public PlanHistory history() {
        return history;
    }
}
