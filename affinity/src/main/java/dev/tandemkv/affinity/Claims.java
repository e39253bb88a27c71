package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.BindingTable;
import dev.tandemkv.affinity.internal.Committed;
import dev.tandemkv.affinity.internal.Effects;
import dev.tandemkv.catalog.time.Ticker;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The claims of the open handles: made, turned from hold to lease, moved, ended once, and found when they were forgotten. Thread-safe; a
 * claim's monitor is taken before a row's lock and never after, and what a step owes the outside runs under neither.
 */
final class Claims {

    private final BindingTable bindings;
    private final Ticker ticker;
    private final Tally tally;
    private final BiConsumer<String, Effects> performer;
    private final Set<Claim> open = ConcurrentHashMap.newKeySet();
    private final ReferenceQueue<Object> lostHandles = new ReferenceQueue<>();

    Claims(BindingTable bindings, Ticker ticker, Tally tally, BiConsumer<String, Effects> performer) {
        this.bindings = bindings;
        this.ticker = ticker;
        this.tally = tally;
        this.performer = performer;
    }

    int size() {
        return open.size();
    }

    Claim open(Object handle, String sessionId, long revision, @Nullable Use use) {
        Claim claim = new Claim(handle, lostHandles, sessionId, revision, use, ticker.read());
        open.add(claim);
        return claim;
    }

    /** Commits a hold. Its claim has ended if the outcome is {@link Committed.Kept}, and is open as before otherwise. */
    Committed commit(AffinityHold hold, AffinityTarget dispatched) {
        Claim claim = hold.claim();
        Effects effects = new Effects();
        Committed outcome;
        synchronized (claim) {
            if (claim.ended) {
                throw new IllegalStateException("the hold has ended");
            }
            outcome = claim.use == null
                    ? bindings.commitInitial(
                            claim.sessionId,
                            claim.revision,
                            hold.explicitTarget().orElse(null),
                            dispatched,
                            hold.rule(),
                            effects)
                    : bindings.commitBound(claim.sessionId, claim.use, dispatched, hold.rule(), effects);
            claim.ended = outcome instanceof Committed.Kept;
        }
        if (outcome instanceof Committed.Kept) {
            open.remove(claim);
            claim.clear();
        }
        performer.accept(claim.sessionId, effects);
        return outcome;
    }

    /**
     * Moves the session from this claim's use to a target; the first of several movers wins, and the others keep their use.
     *
     * @return whether this one won
     */
    boolean rebind(Claim claim, AffinityTarget to) {
        Effects effects = new Effects();
        boolean moved;
        synchronized (claim) {
            Use before = claim.use;
            if (claim.ended || before == null) {
                return false;
            }
            Use after = bindings.rebind(claim.sessionId, before, to, effects);
            moved = !after.equals(before);
            claim.use = after;
        }
        performer.accept(claim.sessionId, effects);
        if (moved) {
            tally.rebound();
        }
        return moved;
    }

    void end(Claim claim) {
        end(claim, (use, effects) -> bindings.release(claim.sessionId, use, effects));
    }

    void endUnused(Claim claim) {
        end(claim, (use, effects) -> bindings.returnUnused(claim.sessionId, use));
    }

    void invalidate(Claim claim) {
        AtomicBoolean ended = new AtomicBoolean();
        end(claim, (use, effects) -> ended.set(bindings.invalidate(claim.sessionId, use, effects)));
        if (ended.get()) {
            tally.invalidated();
        }
    }

    private interface UseEnd {
        void end(Use use, Effects effects);
    }

    /** Ends a claim, once: a first dispatch is abandoned, a use is given back in the way asked for. */
    private boolean end(Claim claim, UseEnd useEnd) {
        Effects effects = new Effects();
        synchronized (claim) {
            if (claim.ended) {
                return false;
            }
            claim.ended = true;
            if (claim.use == null) {
                bindings.abandonInitial(claim.sessionId, claim.revision, effects);
            } else {
                useEnd.end(claim.use, effects);
            }
        }
        open.remove(claim);
        claim.clear();
        performer.accept(claim.sessionId, effects);
        return true;
    }

    /** Ends the claims of handles that were collected unclosed, and those older than the limit that no booking owns. */
    void endLeaked(long maxAgeNanos) {
        for (Reference<?> lost = lostHandles.poll(); lost != null; lost = lostHandles.poll()) {
            endLeaked((Claim) lost);
        }
        long now = ticker.read();
        for (Claim claim : open) {
            if (!claim.owned && now - claim.openedAt >= maxAgeNanos) {
                endLeaked(claim);
            }
        }
    }

    private void endLeaked(Claim claim) {
        if (end(claim, (use, effects) -> bindings.release(claim.sessionId, use, effects))) {
            tally.leaked(claim.sessionId, ticker.read() - claim.openedAt);
        }
    }
}
