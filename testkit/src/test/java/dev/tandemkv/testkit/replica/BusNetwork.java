package dev.tandemkv.testkit.replica;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.ReplicaChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;

/** Gateways of one process. */
final class BusNetwork implements ReplicaNetwork {

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final InProcessBus bus = new InProcessBus(Runnable::run);
    private final UnaryOperator<ReplicaChannel> wrap;
    private final List<ReplicaGateway> gateways = new ArrayList<>();

    /** @param wrap what is done to each channel before it is used */
    BusNetwork(UnaryOperator<ReplicaChannel> wrap) {
        this.wrap = wrap;
    }

    @Override
    public ReplicaGateway join() {
        ReplicaGateway gateway =
                new ReplicaGateway(wrap.apply(bus.join()), Scheduler.of(timers), Duration.ofMinutes(5));
        gateways.add(gateway);
        return gateway;
    }

    @Override
    public void kill(ReplicaGateway gateway) {
        gateways.remove(gateway);
        gateway.channel().close();
    }

    @Override
    public void close() {
        for (ReplicaGateway gateway : gateways) {
            gateway.close();
            gateway.channel().close();
        }
        timers.shutdownNow();
    }
}
