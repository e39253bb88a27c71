package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.RoutingConstraints;
import java.util.Objects;

/**
 * Where KV can be transferred to from the worker booked first; the second leg is chosen under it. Resolved once, when the first leg is
 * booked, and kept: what happens to that worker's metadata later changes nothing.
 *
 * @param domain topology domain, for example {@code zone}
 * @param value the anchor's value in it
 * @param enforcement whether the second worker must or should lie there
 * @param weight weight of the preference; 0 where it is required
 */
public record TransferConstraint(String domain, String value, KvTransferEnforcement enforcement, double weight) {

    public TransferConstraint {
        Objects.requireNonNull(domain, "domain");
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(enforcement, "enforcement");
    }

    /** The taint that a worker in this place carries. */
    public String taint() {
        return WorkerSpec.topologyTaint(domain, value);
    }

    public boolean isRequired() {
        return enforcement == KvTransferEnforcement.REQUIRED;
    }

    /** Adds this to a leg's own constraints; a weight it already gives to the same taint is overwritten. */
    public RoutingConstraints addTo(RoutingConstraints own) {
        return isRequired() ? own.plusRequired(taint()) : own.plusPreferred(taint(), weight);
    }

    /** Whether a leg's own required taints demand another value of the same domain, so that no worker can satisfy both. */
    public boolean contradicts(RoutingConstraints own) {
        String sameDomain = WorkerSpec.topologyTaint(domain, "");
        return isRequired()
                && own.requiredTaints().stream()
                        .anyMatch(taint -> taint.startsWith(sameDomain) && !taint.equals(taint()));
    }
}
