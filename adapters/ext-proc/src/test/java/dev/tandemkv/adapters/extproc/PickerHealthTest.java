package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.time.VirtualTime;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PickerHealthTest {

    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final List<String> READY = List.of("readiness", "envoy.service.ext_proc.v3.ExternalProcessor", "");

    private final VirtualTime time = new VirtualTime();
    private BooleanSupplier ready = () -> false;
    private final PickerHealth health = PickerHealth.watching(() -> ready.getAsBoolean(), time, PERIOD);
    private final String name = InProcessServerBuilder.generateName();
    private final ManagedChannel channel =
            InProcessChannelBuilder.forName(name).directExecutor().build();
    private final Server server = InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(health.service())
            .build();

    @BeforeEach
    void start() throws IOException {
        server.start();
    }

    @AfterEach
    void stop() {
        health.close();
        channel.shutdownNow();
        server.shutdownNow();
    }

    private ServingStatus status(String service) {
        return HealthGrpc.newBlockingStub(channel)
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }

    private void assertReady(ServingStatus expected) {
        assertThat(READY).allSatisfy(service -> assertThat(status(service)).isEqualTo(expected));
    }

    @Test
    void readiness_followsThePool_livenessDoesNot() {
        assertReady(ServingStatus.NOT_SERVING);
        ready = () -> true;
        time.advance(PERIOD);
        assertReady(ServingStatus.SERVING);
        ready = () -> false;
        time.advance(PERIOD);
        assertReady(ServingStatus.NOT_SERVING);
        assertThat(status("liveness")).isEqualTo(ServingStatus.SERVING);
    }

    @Test
    void lookThatFails_isNotReady_andTheNextOneCounts() {
        ready = () -> {
            throw new IllegalStateException("the pool is gone");
        };
        time.advance(PERIOD);
        assertReady(ServingStatus.NOT_SERVING);
        ready = () -> true;
        time.advance(PERIOD);
        assertReady(ServingStatus.SERVING);
    }

    @Test
    void close_endsServingForGood() {
        ready = () -> true;
        time.advance(PERIOD);

        health.close();
        time.advance(PERIOD.multipliedBy(3));

        assertReady(ServingStatus.NOT_SERVING);
        assertThat(status("liveness")).isEqualTo(ServingStatus.NOT_SERVING);
    }

    @Test
    void period_thatIsNotPositive_isRefused() {
        assertThatThrownBy(() -> PickerHealth.watching(() -> true, time, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("period: PT0S (expected: positive)");
    }
}
