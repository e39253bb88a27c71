package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What the parts of one run share.
 *
 * @param workload what arrives
 * @param engines what serves it
 * @param seed what ties are broken by
 * @param time the run's clock
 * @param clock the run's agenda
 */
record Run(Workload workload, EngineSetup engines, long seed, VirtualTime time, Clockwork clock) {

    /** Steps of a timeline over the arrivals; what is served later adds to them. */
    private static final int STEPS = 60;

    private static final long SECOND = 1_000_000_000L;

    static Run of(Workload workload, EngineSetup engines, long seed) {
        VirtualTime time = new VirtualTime();
        return new Run(workload, engines, seed, time, new Clockwork(time));
    }

    /** A generator of a pool's own, so that pools do not disturb each other. */
    RandomGenerator randomFor(String pool) {
        return new SeededRandom(SeededRandom.mix(seed) ^ pool.hashCode());
    }

    /** Whole seconds, so that a chart's axis has round figures. */
    long stepNanos() {
        List<TraceRequest> requests = workload.trace().requests();
        long last = requests.isEmpty() ? 0 : requests.get(requests.size() - 1).arrivalNanos();
        return Math.max(1, (last / STEPS + SECOND - 1) / SECOND) * SECOND;
    }

    /** Puts the arrival of a request on the agenda. Each arrival puts the next one there, so that the agenda stays short. */
    void scheduleArrival(int r) {
        if (r < workload.requests()) {
            clock.at(workload.request(r).arrivalNanos(), Clockwork.Kind.ARRIVAL, r);
        }
    }
}
