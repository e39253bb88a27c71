package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import io.grpc.SynchronizationContext;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a routed request holds, from its decision until it is released: the booking is renewed, told that prefill is over, moved to the worker
 * that really serves, and closed once. Whatever fails in the books, the client's answer goes on.
 *
 * <p>Touched in its exchange's turn only. A request that books nothing passes through here with nothing held.
 */
final class Serving {

    private static final Logger LOG = LoggerFactory.getLogger(Serving.class);

    private final PickerParts parts;
    private final SynchronizationContext turn;

    private @Nullable Held held;
    /** Where the request was sent, until its answer says where it went. */
    private @Nullable SentTo sentTo;

    private boolean prefillOver;
    private Scheduler.@Nullable Task renewal;

    private record SentTo(Pick pick, WorkerRank worker, String address) {}

    Serving(PickerParts parts, SynchronizationContext turn) {
        this.parts = parts;
        this.turn = turn;
    }

    /** Gives a decision back that came too late. */
    static void neverSent(Pick.Picked decision) {
        keeping(decision::close);
    }

    void begin(Pick pick, Pick.Picked decision) {
        sentTo = new SentTo(pick, decision.worker(), decision.address());
        held = decision.held();
        renewLater();
    }

    /** A booking that its pool owns by id lives as long as the exchange does. */
    private void renewLater() {
        if (held instanceof Held.One) {
            renewal = parts.scheduler()
                    .schedule(
                            parts.settings().lease().dividedBy(3),
                            () -> turn.execute(() -> {
                                Held renewed = held;
                                if (renewed != null) {
                                    keeping(renewed::touch);
                                    renewLater();
                                }
                            }));
        }
    }

    /** @param served the address that the proxy says it sent the request to, or {@code null} */
    void answerBegins(@Nullable String served) {
        SentTo expected = sentTo;
        sentTo = null;
        if (served != null && expected != null && !served.equals(expected.address())) {
            keeping(() -> servedElsewhere(expected, served));
        }
        if (held != null) {
            held = held.settled();
        }
    }

    /** The load is where the request runs: its booking follows it. */
    private void servedElsewhere(SentTo sent, String address) {
        WorkerRank served = parts.endpoints().workersAt(Set.of(address)).stream()
                .findFirst()
                .map(id -> new WorkerRank(id, sent.worker().rank()))
                .orElse(null);
        parts.tell(observer -> observer.onServedElsewhere(sent.worker(), served));
        Held former = held;
        if (served == null || former == null) {
            return;
        }
        sent.pick()
                .bookAt(served, former)
                .ifPresent(
                        moving -> moving.whenComplete((there, failure) -> turn.execute(() -> moved(there, failure))));
    }

    private void moved(@Nullable Held there, @Nullable Throwable failure) {
        Held former = held;
        if (there == null) {
            LOG.debug("The booking stays with the worker that was picked", Unquoted.of(failure));
        } else if (former == null) {
            keeping(there::close);
        } else {
            held = there.settled();
            if (prefillOver) {
                keeping(there::prefillComplete);
            }
            keeping(former::close);
        }
    }

    /** Bytes of the answer pass: with the first of them prefill is over. */
    void answerFlows() {
        Held serving = held;
        if (!prefillOver && serving != null) {
            prefillOver = true;
            WorkerRank worker = serving.destination();
            keeping(serving::prefillComplete);
            parts.tell(observer -> observer.onPrefillComplete(worker));
        }
    }

    void release() {
        Scheduler.Task renewing = renewal;
        renewal = null;
        if (renewing != null) {
            renewing.cancel();
        }
        Held was = held;
        held = null;
        if (was != null) {
            keeping(was::close);
        }
    }

    private static void keeping(Runnable books) {
        try {
            books.run();
        } catch (RuntimeException e) {
            LOG.warn("The pool failed to keep the books of a running request", Unquoted.of(e));
        }
    }
}
