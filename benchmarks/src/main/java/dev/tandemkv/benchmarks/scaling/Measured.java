package dev.tandemkv.benchmarks.scaling;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * All that was measured; the tables are made from this alone. Parts may have been measured at different times.
 *
 * @param conditions per part, when and where
 * @param index ordered by block size and ranks
 * @param selection ordered by block size and workers
 * @param intake ordered by block size and ranks
 * @param replicas ordered by blocks, with them tracked, then not
 * @param fanOut ordered by peers
 */
record Measured(
        Map<String, Conditions> conditions,
        List<IndexPoint> index,
        List<SelectionPoint> selection,
        List<IntakePoint> intake,
        List<ReplicaPoint> replicas,
        List<FanOutPoint> fanOut) {

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /**
     * Of one part.
     *
     * @param date of the run, UTC
     * @param java version of the JVM
     * @param cpus of the machine
     * @param loadBefore load average of a minute when the part began
     * @param loadAfter when it ended
     */
    record Conditions(String date, String java, int cpus, double loadBefore, double loadAfter) {}

    Measured {
        conditions = new TreeMap<>(conditions);
        index = List.copyOf(index);
        selection = List.copyOf(selection);
        intake = List.copyOf(intake);
        replicas = List.copyOf(replicas);
        fanOut = List.copyOf(fanOut);
    }

    static Measured nothing() {
        return new Measured(Map.of(), List.of(), List.of(), List.of(), List.of(), List.of());
    }

    static Measured read(Path file) throws IOException {
        return JSON.readValue(Files.readAllBytes(file), Measured.class);
    }

    void write(Path file) throws IOException {
        Files.writeString(file, JSON.writeValueAsString(this) + '\n');
    }

    Measured with(String part, Conditions now) {
        Map<String, Conditions> all = new TreeMap<>(conditions);
        all.put(part, now);
        return new Measured(all, index, selection, intake, replicas, fanOut);
    }

    /** With the points of one block size, in one piece, in place of those there were. */
    Measured withIndex(int blockTokens, List<IndexPoint> points) {
        return withIndex(points, p -> p.blockTokens() == blockTokens && p.shards() == 1);
    }

    /** With the points of indexes in several parts in place of those there were. */
    Measured withSharded(List<IndexPoint> points) {
        return withIndex(points, p -> p.shards() > 1);
    }

    private Measured withIndex(List<IndexPoint> points, Predicate<IndexPoint> replaced) {
        List<IndexPoint> all = new ArrayList<>(index);
        all.removeIf(replaced);
        all.addAll(points);
        all.sort(Comparator.comparingInt(IndexPoint::blockTokens)
                .reversed()
                .thenComparingInt(IndexPoint::shards)
                .thenComparingInt(IndexPoint::ranks));
        return new Measured(conditions, all, selection, intake, replicas, fanOut);
    }

    Measured withSelection(List<SelectionPoint> points) {
        return new Measured(conditions, index, points, intake, replicas, fanOut);
    }

    Measured withIntake(List<IntakePoint> points) {
        return new Measured(conditions, index, selection, points, replicas, fanOut);
    }

    Measured withReplicas(List<ReplicaPoint> points, List<FanOutPoint> fan) {
        return new Measured(conditions, index, selection, intake, points, fan);
    }

    List<IndexPoint> index(int blockTokens) {
        return index.stream().filter(p -> p.blockTokens() == blockTokens).toList();
    }

    List<SelectionPoint> selection(int blockTokens) {
        return selection.stream().filter(p -> p.blockTokens() == blockTokens).toList();
    }

    List<IntakePoint> intake(int blockTokens) {
        return intake.stream().filter(p -> p.blockTokens() == blockTokens).toList();
    }

    List<ReplicaPoint> replicas(boolean trackedBlocks) {
        return replicas.stream().filter(p -> p.trackedBlocks() == trackedBlocks).toList();
    }
}
