package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import java.util.EnumMap;
import java.util.Map;

/** There are workers, but none that this request may use. Kind {@link SelectionException.Kind#NO_ELIGIBLE_WORKER}. */
public final class NoEligibleWorkerException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final transient Map<ExclusionReason, Integer> excluded;

    /**
     * @param partition where it was asked
     * @param excluded how many ranks each reason excluded; a reason that excluded none may be missing
     */
    public NoEligibleWorkerException(PartitionKey partition, Map<ExclusionReason, Integer> excluded) {
        super(
                Kind.NO_ELIGIBLE_WORKER,
                "no eligible worker in " + partition + ", excluded ranks: " + excluded,
                null,
                StackTrace.OMITTED);
        this.excluded = Map.copyOf(excluded);
    }

    /** How many ranks each reason excluded. */
    public Map<ExclusionReason, Integer> excluded() {
        return excluded.isEmpty() ? Map.of() : new EnumMap<>(excluded);
    }

    /** Whether the policy's filters rejected every rank that was eligible. */
    public boolean filtered() {
        return excluded.containsKey(ExclusionReason.FILTERED);
    }
}
