package dev.tandemkv.examples.quickstart;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.tandemkv.testkit.report.Decimals;
import dev.tandemkv.testkit.sim.SimulationResult;
import dev.tandemkv.testkit.trace.Distribution;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceStatistics;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;

/** The results for programs. The names of the fields are a promise. */
final class JsonResults {

    private JsonResults() {}

    static String of(Trace trace, TraceStatistics statistics, long seed, List<TimedRun> runs) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.setPrettyPrinter(new DefaultPrettyPrinter());
            json.writeStartObject();
            writeTrace(json, trace, statistics);
            json.writeNumberField("seed", seed);
            json.writeArrayFieldStart("runs");
            for (TimedRun run : runs) {
                writeRun(json, run);
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        return text.append('\n').toString();
    }

    private static void writeTrace(JsonGenerator json, Trace trace, TraceStatistics statistics) throws IOException {
        json.writeObjectFieldStart("trace");
        json.writeStringField("name", trace.name());
        json.writeNumberField("requests", statistics.requests());
        json.writeNumberField("inputTokens", statistics.tokens().input());
        json.writeNumberField("outputTokens", statistics.tokens().output());
        json.writeNumberField("blocks", statistics.blocks().total());
        json.writeNumberField("uniqueBlocks", statistics.blocks().unique());
        json.writeNumberField("idealReuseBlocks", statistics.blocks().idealReuse());
        json.writeObjectFieldStart("roundRobinHitBlocks");
        for (Map.Entry<Integer, Long> hits : statistics.roundRobinHitBlocks().entrySet()) {
            json.writeNumberField(Integer.toString(hits.getKey()), hits.getValue());
        }
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void writeRun(JsonGenerator json, TimedRun run) throws IOException {
        SimulationResult result = run.named().result();
        String order = run.named().order();
        json.writeStartObject();
        json.writeStringField("topology", run.named().topology());
        json.writeStringField("policy", run.named().policy());
        if (order != null) {
            json.writeStringField("order", order);
        }
        json.writeNumberField("requests", result.traffic().served());
        json.writeNumberField("hitRatio", Decimals.rounded(result.hitRatio(), 6));
        Distribution ttft = result.latency().ttft();
        json.writeObjectFieldStart("ttftMs");
        json.writeNumberField("mean", Decimals.rounded(ttft.mean(), 3));
        json.writeNumberField("p50", Decimals.rounded(ttft.p50(), 3));
        json.writeNumberField("p90", Decimals.rounded(ttft.p90(), 3));
        json.writeNumberField("p99", Decimals.rounded(ttft.p99(), 3));
        json.writeEndObject();
        json.writeObjectFieldStart("tpotMs");
        json.writeNumberField("mean", Decimals.rounded(result.latency().tpot().mean(), 3));
        json.writeEndObject();
        json.writeNumberField("transferredTokens", result.traffic().tokens().transferred());
        json.writeNumberField("openBookings", result.openBookings());
        json.writeNumberField("wallMs", Decimals.rounded(run.wallMillis(), 1));
        json.writeEndObject();
    }
}
