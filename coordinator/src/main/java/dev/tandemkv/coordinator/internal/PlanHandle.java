package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.JointDecision;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import java.util.List;
import java.util.Optional;

/** What the caller holds of a plan; nothing inside refers to it, so that its loss can be noticed. Immutable. */
final class PlanHandle implements RoutingPlan {

    private final PlanRun run;

    PlanHandle(PlanRun run) {
        this.run = run;
    }

    PlanRun run() {
        return run;
    }

    @Override
    public String id() {
        return run.id();
    }

    @Override
    public PlanOrder order() {
        return run.notes().order;
    }

    @Override
    public LinkedBookingState state() {
        return run.state();
    }

    @Override
    public List<LinkedBookingState> transitions() {
        return run.transitions();
    }

    @Override
    public List<PlanEvent> events() {
        return run.events();
    }

    @Override
    public Optional<Booking> booking(Leg leg) {
        return Optional.ofNullable(run.booking(leg));
    }

    @Override
    public Optional<Selection> selection(Leg leg) {
        return Optional.ofNullable(run.selection(leg));
    }

    @Override
    public boolean isBypass() {
        return run.state().isBypass();
    }

    @Override
    public Optional<BypassDecision> bypassDecision() {
        return Optional.ofNullable(run.notes().bypassDecision);
    }

    @Override
    public Optional<JointDecision> jointDecision() {
        return Optional.ofNullable(run.notes().jointDecision);
    }

    @Override
    public Optional<TransferConstraint> constraint() {
        return Optional.ofNullable(run.notes().constraint);
    }

    @Override
    public List<PendingFree> pendingFrees() {
        return run.pendingFrees();
    }

    @Override
    public void close() {
        run.end(Ending.RELEASE, null);
    }

    @Override
    public String toString() {
        return "RoutingPlan[" + id() + ", " + state() + ']';
    }
}
