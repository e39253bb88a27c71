package dev.tandemkv.affinity;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts what a table does and passes it on to the host's observer, whose exceptions end here. Thread-safe. */
final class Tally {

    private static final Logger LOG = LoggerFactory.getLogger(SessionAffinity.class);

    private final AffinityObserver observer;
    final LongAdder hits = new LongAdder();
    final LongAdder initialized = new LongAdder();
    final LongAdder rebinds = new LongAdder();
    final LongAdder invalidated = new LongAdder();
    final LongAdder expired = new LongAdder();
    final LongAdder stolen = new LongAdder();
    final LongAdder leaks = new LongAdder();
    final LongAdder published = new LongAdder();
    final LongAdder publishDropped = new LongAdder();
    final LongAdder duplicates = new LongAdder();
    private final ConcurrentHashMap<UnpinnedCause, LongAdder> unpinned = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<ReplicaApplyOutcome, LongAdder> applied = new ConcurrentHashMap<>();

    Tally(AffinityObserver observer) {
        this.observer = observer;
    }

    void hit() {
        count(hits, AffinityObserver::onHit);
    }

    void initialized() {
        count(initialized, AffinityObserver::onInitialize);
    }

    void waiting() {
        tell(AffinityObserver::onWait);
    }

    void unpinned(UnpinnedCause cause) {
        unpinned.computeIfAbsent(cause, c -> new LongAdder()).increment();
        tell(o -> o.onUnpinned(cause));
    }

    void rebound() {
        count(rebinds, AffinityObserver::onRebind);
    }

    void invalidated() {
        count(invalidated, AffinityObserver::onInvalidated);
    }

    void expired(int rows) {
        for (int i = 0; i < rows; i++) {
            count(expired, AffinityObserver::onExpired);
        }
    }

    void stolen() {
        count(stolen, AffinityObserver::onStolen);
    }

    void leaked(String sessionId, long ageNanos) {
        leaks.increment();
        String digest = SessionKeys.digest(sessionId);
        LOG.warn(
                "A handle of session {} was still open after {} s and has been ended",
                digest,
                ageNanos / 1_000_000_000L);
        tell(o -> o.onLeak(digest, ageNanos));
    }

    void published() {
        count(published, AffinityObserver::onPublished);
    }

    void publishDropped() {
        count(publishDropped, AffinityObserver::onPublishDropped);
    }

    void duplicate() {
        duplicates.increment();
    }

    void applied(ReplicaApplyOutcome outcome) {
        applied.computeIfAbsent(outcome, o -> new LongAdder()).increment();
        tell(o -> o.onReplicaApplied(outcome));
    }

    Map<UnpinnedCause, Long> unpinned() {
        return sums(unpinned);
    }

    Map<ReplicaApplyOutcome, Long> applied() {
        return sums(applied);
    }

    private static <E> Map<E, Long> sums(Map<E, LongAdder> adders) {
        Map<E, Long> sums = new HashMap<>();
        adders.forEach((key, adder) -> sums.put(key, adder.sum()));
        return sums;
    }

    private void count(LongAdder adder, Consumer<AffinityObserver> event) {
        adder.increment();
        tell(event);
    }

    private void tell(Consumer<AffinityObserver> event) {
        try {
            event.accept(observer);
        } catch (RuntimeException e) {
            LOG.warn("An affinity observer failed", e);
        }
    }
}
