package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.partition.Attempt.TargetRule;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a request is drawn to, by its session or by its caller.
 *
 * @param hold the session held for it, or {@code null}
 * @param target where to, or {@code null} for nowhere
 * @param rule how strictly
 */
record Steering(@Nullable AffinityHold hold, @Nullable AffinityTarget target, TargetRule rule) {

    static final Steering NONE = new Steering(null, null, TargetRule.NONE);

    /** The caller's own target, which is advice. */
    static Steering byCaller(SelectRequest request) {
        AffinityTarget target = request.affinityTarget();
        return target == null ? NONE : new Steering(null, target, TargetRule.ADVISED);
    }

    static Steering by(AffinityHold hold) {
        AffinityTarget target = hold.target().orElse(null);
        return switch (hold.steering()) {
            case REQUIRED -> new Steering(hold, target, TargetRule.REQUIRED);
            case PREFERRED -> new Steering(hold, target, TargetRule.ADVISED);
            case FREE -> new Steering(hold, null, TargetRule.NONE);
        };
    }

    /** A booking of a bound session must be able to reach its worker; the binding stays whatever the request forbids itself. */
    void requireReachable(SelectRequest request, Purpose purpose) {
        Set<Long> allowed = request.allowedWorkerIds();
        if (purpose == Attempt.Purpose.BOOK
                && rule == TargetRule.REQUIRED
                && target != null
                && allowed != null
                && !allowed.contains(target.workerId())) {
            throw new BadRequestException(
                    "allowed_worker_ids", allowed.size() + " workers", "a set with the session's worker " + target);
        }
    }
}
