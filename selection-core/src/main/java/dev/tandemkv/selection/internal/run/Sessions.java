package dev.tandemkv.selection.internal.run;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.affinity.SessionRequest;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectRequest.PinOrigin;
import dev.tandemkv.selection.SessionContext;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.partition.Attempt.TargetRule;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.ReadModels;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a request meets its session: looked at by a plain selection, held by a booking, committed under the booking. */
final class Sessions {

    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

    private Sessions() {}

    /** Whether the session has a say; a caller's own target switches it off. */
    static boolean concern(Partition in, SelectRequest request) {
        return in.sessions() != null && request.session() != null && request.affinityTarget() == null;
    }

    /** Where the session draws the request. Completes at once unless another request makes the session's first dispatch. */
    static CompletionStage<Steering> steer(
            Partition in, SelectRequest request, Purpose purpose, CoreContext core, CancellationSignal stopped) {
        SessionAffinity table = in.sessions();
        SessionContext session = request.session();
        if (table == null || session == null) {
            return CompletableFuture.completedStage(Steering.NONE);
        }
        AffinityResolver resolver = new AffinityResolver(table);
        WorkerRank pin = request.pinOrigin() == PinOrigin.CLIENT ? request.pinnedWorker() : null;
        if (purpose != Purpose.BOOK) {
            return CompletableFuture.completedStage(
                    pin == null ? look(in, table, core, resolver, session.sessionId()) : Steering.NONE);
        }
        Margin margin = new Margin(in, core.config().sessions().loadMargin());
        SessionRequest wish = SessionRequest.builder(session.sessionId(), in::isLive)
                .mayStay(margin)
                .cancel(stopped)
                .deadline(request.deadlineTick())
                .build();
        CompletionStage<Optional<AffinityHold>> held = pin == null
                ? resolver.resolve(wish)
                : resolver.resolvePinned(
                        wish, AffinityTarget.of(pin), core.config().sessions().pinPolicy());
        return held.thenApply(hold -> {
            if (hold.isEmpty() && pin == null) {
                core.counters().unpinned.increment();
                core.observer().onUnpinned(in.key());
            }
            return hold.map(Steering::by).map(margin::towards).orElse(Steering.NONE);
        });
    }

    /** Lets a session go whose worker is too far ahead in load, towards the least loaded rank. Used by one request. */
    private static final class Margin implements Predicate<AffinityTarget> {
        private final Partition in;
        private final @Nullable Double blocks;
        private volatile @Nullable WorkerRank lighter;

        Margin(Partition in, @Nullable Double blocks) {
            this.in = in;
            this.blocks = blocks;
        }

        @Override
        public boolean test(AffinityTarget bound) {
            lighter = blocks == null ? null : ReadModels.leastLoadedBelow(in, bound, blocks);
            return lighter == null;
        }

        Steering towards(Steering free) {
            WorkerRank rank = lighter;
            return rank == null || free.target() != null
                    ? free
                    : new Steering(free.hold(), AffinityTarget.of(rank), TargetRule.ADVISED);
        }
    }

    private static Steering look(
            Partition in, SessionAffinity table, CoreContext core, AffinityResolver resolver, String sessionId) {
        AffinityTarget target = resolver.query(sessionId, null, in::isLive).orElse(null);
        TargetRule rule = table.config().mode() == AffinityMode.HARD ? TargetRule.REQUIRED : TargetRule.ADVISED;
        Margin margin = new Margin(in, core.config().sessions().loadMargin());
        if (target == null) {
            return Steering.NONE;
        }
        return margin.test(target) ? new Steering(null, target, rule) : margin.towards(Steering.NONE);
    }

    /** Binds the session to the booked rank. Never waits. */
    static @Nullable AffinityLease commit(Partition in, AffinityHold hold, WorkerRank booked) {
        SessionAffinity table = in.sessions();
        if (table == null) {
            return null;
        }
        return new AffinityResolver(table)
                .commitOrFailover(hold, AffinityTarget.of(booked), in::isLive)
                .map(AffinityLease::followBooking)
                .orElse(null);
    }

    /** Gives back or tells the session table something; what fails there keeps nobody from an answer. */
    static void quietly(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            LOG.warn("a session table could not be told", e);
        }
    }

    static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
