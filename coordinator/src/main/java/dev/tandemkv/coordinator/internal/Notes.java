package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.JointDecision;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.TransferConstraint;
import org.jspecify.annotations.Nullable;

/** What a flow decided on the way. Written by the one flow that runs, read by any thread. */
final class Notes {

    volatile PlanOrder order;
    volatile @Nullable BypassDecision bypassDecision;
    volatile @Nullable JointDecision jointDecision;
    volatile @Nullable TransferConstraint constraint;

    /** The record of the worker booked first, as it was then. */
    volatile @Nullable WorkerRecord anchorRecord;

    Notes(PlanOrder order) {
        this.order = order;
    }
}
