package dev.tandemkv.benchmarks.scaling;

import dev.tandemkv.benchmarks.report.Samples;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Time of one kind of call.
 *
 * @param p50Nanos median
 * @param p99Nanos 99th percentile
 */
record Latency(double p50Nanos, double p99Nanos) {

    /** Of several rounds, the one whose median is in the middle. */
    static Latency middleOf(List<Samples> rounds) {
        List<Latency> latencies = new ArrayList<>();
        for (Samples round : rounds) {
            latencies.add(new Latency(round.figure("p50_ns"), round.figure("p99_ns")));
        }
        latencies.sort(Comparator.comparingDouble(Latency::p50Nanos));
        return latencies.get(latencies.size() / 2);
    }
}
