package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.FreeRetry;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Everything a host was built with; validated by its builder, which documents each. */
record HostParts<Q, R>(
        SelectionPool pool,
        Dispatcher<Q, R> dispatcher,
        ResponseReader<R> reader,
        @Nullable AffinityResolver affinity,
        WorkerHealth health,
        RoutingRecord record,
        Preparation<Q> preparation,
        Migration<Q> migration,
        int maxMigrations,
        Duration stagedGrace,
        FreeRetry freeRetry,
        Duration lease,
        int maxOpenRequests,
        HostObserver observer,
        Ticker ticker,
        Scheduler scheduler) {}
