package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The worker booked first does not say where its KV can be transferred to, so no second worker can be chosen safely. What was held is
 * freed. Kind {@code WORKER_GONE} if the record is missing, {@code INTERNAL} if it is incomplete.
 */
public final class TransferMetadataException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** What is missing. */
    public enum Missing {
        RECORD(Kind.WORKER_GONE),
        TOPOLOGY_DOMAIN(Kind.INTERNAL),
        ENFORCEMENT(Kind.INTERNAL),
        PREFERRED_WEIGHT(Kind.INTERNAL);

        private final Kind kind;

        Missing(Kind kind) {
            this.kind = kind;
        }
    }

    private final Missing missing;
    private final transient WorkerRank anchor;
    private final @Nullable String domain;
    private final transient PlanHistory history;

    public TransferMetadataException(Missing missing, WorkerRank anchor, @Nullable String domain, PlanHistory history) {
        super(
                missing.kind,
                "anchor " + anchor + " of " + history.planId() + ": no " + missing
                        + (domain == null ? "" : " for domain " + domain) + "; transitions "
                        + history.transitionNames());
        this.missing = missing;
        this.anchor = Objects.requireNonNull(anchor, "anchor");
        this.domain = domain;
        this.history = history;
    }

    public Missing missing() {
        return missing;
    }

    /** The worker booked first. */
    public WorkerRank anchor() {
        return anchor;
    }

    /** Its transfer domain, or {@code null} if the record itself is missing. */
    public @Nullable String domain() {
        return domain;
    }

    public PlanHistory history() {
        return history;
    }
}
