package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.FreeRetry;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;

/** What a release needs: the pool it goes to, and how it is timed, retried and reported. */
public record FreePort(
        SelectionPool pool,
        Leg leg,
        FreeRetry retry,
        Duration lease,
        CoordinatorObserver observer,
        Ticker ticker,
        Scheduler scheduler) {}
