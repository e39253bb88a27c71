package dev.tandemkv.selection;

import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.Replication.UnknownWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;

/** Replicas in one virtual time whose messages arrive at once and are applied with the next {@link #flow}. */
final class ReplicaFleet {

    final VirtualTime time = new VirtualTime();
    final InProcessBus bus = new InProcessBus(Runnable::run);
    long seed;

    /** One replica and its way out. */
    static final class Replica {
        final TappedChannel channel;
        final CoreFixture f;

        private Replica(TappedChannel channel, CoreFixture f) {
            this.channel = channel;
            this.f = f;
        }

        Replica workers(int count) {
            f.workers(count);
            return this;
        }

        ReplicaStats stats() {
            return f.core.replicaStats().orElseThrow();
        }

        RankLoad load() {
            return f.load(1);
        }
    }

    Replica replica() {
        return replica(SelectionConfig.builder());
    }

    Replica replica(SelectionConfigBuilder config) {
        return replica(new TappedChannel(bus.join()), config);
    }

    Replica replica(TappedChannel channel, SelectionConfigBuilder config) {
        return replica(
                channel, config, SelectionHost.builder().replicaChannel(channel).build());
    }

    Replica replica(TappedChannel channel, SelectionConfigBuilder config, SelectionHost host) {
        return new Replica(channel, new CoreFixture(config.replicaSync(true).build(), host, time, ++seed));
    }

    /** One that counts what is booked on ranks it does not know. */
    Replica lazy() {
        TappedChannel channel = new TappedChannel(bus.join());
        Replication lazily = Replication.over(channel).withUnknownWorkers(UnknownWorkers.LAZY_REGISTER);
        return replica(
                channel,
                SelectionConfig.builder(),
                SelectionHost.builder().replication(lazily).build());
    }

    /** Lets what was told be applied. */
    void flow() {
        time.advance(Duration.ofMillis(1));
    }

    /** Lets joiners be told and asks be answered, and all of it be applied. */
    void answer() {
        time.advance(Duration.ofMillis(10));
        flow();
    }
}
