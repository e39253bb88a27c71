package dev.tandemkv.affinity;

/**
 * A view of one bound session.
 *
 * @param target what the session is bound to
 * @param revision local generation of the row; a removed and re-made binding has another one
 * @param version age across replicas
 * @param activeLeases requests that use the binding now
 * @param idleDeadline tick at which the binding ends if it stays unused; meaningless while a lease is active
 */
public record AffinityBinding(
        AffinityTarget target, long revision, AffinityVersion version, int activeLeases, long idleDeadline) {}
