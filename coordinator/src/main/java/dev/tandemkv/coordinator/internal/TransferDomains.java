package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.coordinator.TransferMetadataException.Missing;
import org.jspecify.annotations.Nullable;

/** Reads what a worker's record says about where its KV can go. */
final class TransferDomains {

    private TransferDomains() {}

    /**
     * Where a worker's KV can be transferred to: a constraint, none, or what is missing to say so.
     *
     * @param constraint {@code null} if the worker names no domain, or if something is missing
     * @param missing what is missing, or {@code null}
     */
    record Resolved(
            @Nullable TransferConstraint constraint,
            @Nullable Missing missing) {

        static final Resolved UNCONSTRAINED = new Resolved(null, null);

        static Resolved lacks(Missing missing) {
            return new Resolved(null, missing);
        }

        static Resolved to(TransferConstraint constraint) {
            return new Resolved(constraint, null);
        }
    }

    static Resolved of(WorkerRecord record) {
        WorkerSpec spec = record.spec();
        String domain = spec.kvTransferDomain();
        if (domain == null) {
            return Resolved.UNCONSTRAINED;
        }
        String value = spec.topologyDomains().get(domain);
        if (value == null) {
            return Resolved.lacks(Missing.TOPOLOGY_DOMAIN);
        }
        KvTransferEnforcement enforcement = spec.kvTransferEnforcement();
        if (enforcement == null) {
            return Resolved.lacks(Missing.ENFORCEMENT);
        }
        if (enforcement == KvTransferEnforcement.REQUIRED) {
            return Resolved.to(new TransferConstraint(domain, value, enforcement, 0));
        }
        Double weight = spec.kvTransferPreferredWeight();
        return weight == null
                ? Resolved.lacks(Missing.PREFERRED_WEIGHT)
                : Resolved.to(new TransferConstraint(domain, value, enforcement, weight));
    }

    /** Whether the worker's own required domain, if it has one, contains the other worker. */
    static boolean accepts(WorkerRecord worker, WorkerRecord other) {
        TransferConstraint own = of(worker).constraint();
        return own == null || !own.isRequired() || other.spec().carries(own.taint());
    }
}
