package dev.tandemkv.testkit.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.testkit.sim.SimulationResult;
import dev.tandemkv.testkit.sim.WorkerTimeline;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/** Turns results into the numbers that the page draws, as JSON. Stateless. */
final class ChartData {

    private static final int GRID_POINTS = 160;
    private static final double SHORTEST_MILLIS = 10;

    private ChartData() {}

    static String of(List<NamedResult> runs) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.writeStartObject();
            writeDistributions(json, runs);
            json.writeArrayFieldStart("runs");
            for (NamedResult run : runs) {
                writeTimelines(json, run);
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void writeDistributions(JsonGenerator json, List<NamedResult> runs) throws IOException {
        double[] grid = grid(runs);
        writeNumbers(json, "millis", grid);
        json.writeArrayFieldStart("distributions");
        for (String topology :
                runs.stream().map(NamedResult::topology).distinct().toList()) {
            json.writeStartObject();
            json.writeStringField("topology", topology);
            json.writeArrayFieldStart("series");
            for (NamedResult run : runs) {
                if (run.topology().equals(topology)) {
                    json.writeStartObject();
                    json.writeStringField("name", run.shortTitle());
                    json.writeStringField("policy", run.policy());
                    json.writeBooleanField("dashed", "decode-anchored".equals(run.order()));
                    writeNumbers(json, "share", shares(run.result().latency().ttftMillis(), grid));
                    json.writeEndObject();
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Times at equal ratios, from the shortest worth telling apart to the longest of any run. */
    private static double[] grid(List<NamedResult> runs) {
        double longest = runs.stream()
                .mapToDouble(run -> run.result().latency().ttft().max())
                .max()
                .orElse(SHORTEST_MILLIS);
        double ratio = Math.max(longest / SHORTEST_MILLIS, 10);
        double[] grid = new double[GRID_POINTS];
        for (int i = 0; i < GRID_POINTS; i++) {
            grid[i] = SHORTEST_MILLIS * StrictMath.pow(ratio, (double) i / (GRID_POINTS - 1));
        }
        return grid;
    }

    /** For each time of the grid, the share of the requests that had their first token by then. */
    private static double[] shares(double[] ascending, double[] grid) {
        double[] shares = new double[grid.length];
        int below = 0;
        for (int i = 0; i < grid.length; i++) {
            while (below < ascending.length && ascending[below] <= grid[i]) {
                below++;
            }
            shares[i] = ascending.length == 0 ? 0 : 100.0 * below / ascending.length;
        }
        return shares;
    }

    private static void writeTimelines(JsonGenerator json, NamedResult run) throws IOException {
        SimulationResult result = run.result();
        json.writeStartObject();
        json.writeStringField("name", run.title());
        int steps =
                result.workers().stream().mapToInt(w -> w.load().length).max().orElse(0);
        double[] seconds = new double[steps];
        for (int i = 0; i < steps; i++) {
            seconds[i] = (i + 0.5) * result.stepSeconds();
        }
        writeNumbers(json, "seconds", seconds);
        json.writeArrayFieldStart("workers");
        for (WorkerTimeline worker : result.workers()) {
            json.writeStartObject();
            json.writeStringField("name", worker.name());
            writeNumbers(json, "load", worker.load());
            writeHits(json, worker);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Cached share of the prompt tokens since the start, in percent; nothing before the first prompt. */
    private static void writeHits(JsonGenerator json, WorkerTimeline worker) throws IOException {
        json.writeArrayFieldStart("hits");
        long input = 0;
        long cached = 0;
        for (int i = 0; i < worker.inputTokens().length; i++) {
            input += worker.inputTokens()[i];
            cached += worker.cachedTokens()[i];
            if (input == 0) {
                json.writeNull();
            } else {
                json.writeNumber(Decimals.rounded(100.0 * cached / input, 2));
            }
        }
        json.writeEndArray();
    }

    private static void writeNumbers(JsonGenerator json, String field, double[] values) throws IOException {
        json.writeArrayFieldStart(field);
        for (double value : values) {
            json.writeNumber(Decimals.rounded(value, 2));
        }
        json.writeEndArray();
    }
}
