package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.time.Scheduler;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * gRPC health of a picker: {@code liveness} serves from the start; {@code readiness}, the external processor's service name and the empty
 * name serve only while the pool is synchronised and has a worker. Thread-safe.
 */
public final class PickerHealth implements AutoCloseable {

    private static final String LIVENESS = "liveness";
    private static final String READINESS = "readiness";

    private final HealthStatusManager statuses = new HealthStatusManager();
    private final BooleanSupplier ready;
    private final Scheduler scheduler;
    private final Duration period;
    private volatile boolean closed;

    private PickerHealth(BooleanSupplier ready, Scheduler scheduler, Duration period) {
        this.ready = Objects.requireNonNull(ready, "ready");
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        if (period.isNegative() || period.isZero()) {
            throw new IllegalArgumentException("period: " + period + " (expected: positive)");
        }
        this.period = period;
    }

    /**
     * Looks once, and then again every period until closed.
     *
     * @param ready for example {@code () -> core.ready().ready()}; an exception counts as not ready
     */
    public static PickerHealth watching(BooleanSupplier ready, Scheduler scheduler, Duration period) {
        PickerHealth health = new PickerHealth(ready, scheduler, period);
        health.statuses.setStatus(LIVENESS, ServingStatus.SERVING);
        health.look();
        return health;
    }

    /** What a server mounts. */
    public BindableService service() {
        return statuses.getHealthService();
    }

    private void look() {
        if (closed) {
            return;
        }
        // Before the look: no failure in it may leave the last status standing for good.
        scheduler.schedule(period, this::look);
        ServingStatus status = isReady() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
        statuses.setStatus(READINESS, status);
        statuses.setStatus(ExternalProcessorGrpc.SERVICE_NAME, status);
        statuses.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
    }

    private boolean isReady() {
        try {
            return ready.getAsBoolean();
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Everything stops serving, for good. Idempotent. */
    @Override
    public void close() {
        closed = true;
        statuses.enterTerminalState();
    }
}
