package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.policy.CostTerms;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code explanation} of an answer, an addition of ours: written by a service, read by a client. Stateless. */
final class ExplanationBody {

    private static final String PLACE = "explanation";

    private ExplanationBody() {}

    // ---- writing

    static void write(JsonGenerator json, Explanation explanation) throws IOException {
        json.writeStartObject();
        json.writeStringField("policy", explanation.policy());
        rank(json, explanation.chosen());
        json.writeNumberField("tied", explanation.tied());
        json.writeArrayFieldStart("candidates");
        for (Explanation.Candidate candidate : explanation.candidates()) {
            write(json, candidate);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("excluded");
        for (Explanation.Exclusion exclusion : explanation.excluded()) {
            json.writeStartObject();
            rank(json, exclusion.worker());
            json.writeStringField("reason", exclusion.reason().name().toLowerCase(Locale.ROOT));
            if (exclusion.filter() != null) {
                json.writeStringField("filter", exclusion.filter());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("omitted_candidates", explanation.omittedCandidates());
        json.writeNumberField("omitted_exclusions", explanation.omittedExclusions());
        json.writeEndObject();
    }

    private static void rank(JsonGenerator json, WorkerRank worker) throws IOException {
        JsonText.unsigned(json, "worker_id", worker.workerId());
        JsonText.unsigned(json, "dp_rank", worker.rank());
    }

    private static void write(JsonGenerator json, Explanation.Candidate candidate) throws IOException {
        json.writeStartObject();
        rank(json, candidate.worker());
        json.writeNumberField("cost", candidate.cost());
        json.writeNumberField("device_blocks", candidate.deviceBlocks());
        json.writeNumberField("host_blocks", candidate.hostBlocks());
        json.writeNumberField("disk_blocks", candidate.diskBlocks());
        json.writeArrayFieldStart("contributions");
        for (Explanation.Contribution contribution : candidate.contributions()) {
            json.writeStartObject();
            json.writeStringField("scorer", contribution.scorer());
            json.writeNumberField("cost", contribution.terms().cost());
            json.writeObjectFieldStart("terms");
            for (Map.Entry<String, Double> term : contribution.terms().values().entrySet()) {
                json.writeNumberField(term.getKey(), term.getValue());
            }
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    // ---- reading

    /** What is known of one object of the document so far. */
    private static final class Fields {
        private final Map<String, String> texts = new HashMap<>();
        private final Map<String, Long> figures = new HashMap<>();
        private double cost;

        WorkerRank worker() {
            return new WorkerRank(figure("worker_id"), (int) figure("dp_rank"));
        }

        long figure(String name) {
            return figures.getOrDefault(name, 0L);
        }

        int count(String name) {
            return (int) Math.min(Integer.MAX_VALUE, figure(name));
        }

        String text(String name) throws WireException {
            String text = texts.get(name);
            if (text == null) {
                throw WireException.misshapen(PLACE + '.' + name, "missing", "a string");
            }
            return text;
        }

        boolean take(String name, JsonBody body) throws IOException, WireException {
            switch (name) {
                case "worker_id", "dp_rank" -> figures.put(name, body.bits64(name));
                case "tied",
                        "device_blocks",
                        "host_blocks",
                        "disk_blocks",
                        "omitted_candidates",
                        "omitted_exclusions" -> figures.put(name, body.unsigned64(name));
                case "policy", "reason", "filter", "scorer" -> texts.put(name, body.text(name));
                case "cost" -> cost = body.number(name);
                default -> {
                    return false;
                }
            }
            return true;
        }
    }

    /** @return {@code null} where there is none */
    static @Nullable Explanation read(JsonBody body) throws IOException, WireException {
        if (body.isNull()) {
            return null;
        }
        Fields fields = new Fields();
        List<Explanation.Candidate> candidates = new ArrayList<>();
        List<Explanation.Exclusion> excluded = new ArrayList<>();
        body.object(PLACE, name -> {
            switch (name) {
                case "candidates" -> body.list(name, at -> candidates.add(candidate(at, body)));
                case "excluded" -> body.list(name, at -> excluded.add(exclusion(at, body)));
                default -> {
                    return fields.take(name, body);
                }
            }
            return true;
        });
        return new Explanation(
                fields.text("policy"),
                fields.worker(),
                fields.count("tied"),
                candidates,
                excluded,
                fields.count("omitted_candidates"),
                fields.count("omitted_exclusions"));
    }

    private static Explanation.Candidate candidate(String place, JsonBody body) throws IOException, WireException {
        Fields fields = new Fields();
        List<Explanation.Contribution> contributions = new ArrayList<>();
        body.object(place, name -> {
            if (name.equals("contributions")) {
                body.list(name, at -> contributions.add(contribution(at, body)));
                return true;
            }
            return fields.take(name, body);
        });
        return new Explanation.Candidate(
                fields.worker(),
                fields.cost,
                fields.count("device_blocks"),
                fields.count("host_blocks"),
                fields.count("disk_blocks"),
                contributions);
    }

    private static Explanation.Contribution contribution(String place, JsonBody body)
            throws IOException, WireException {
        Fields fields = new Fields();
        Map<String, Double> terms = new LinkedHashMap<>();
        body.object(place, name -> {
            if (name.equals("terms")) {
                body.map(name, (term, at) -> terms.put(term, body.number(at)));
                return true;
            }
            return fields.take(name, body);
        });
        return new Explanation.Contribution(fields.text("scorer"), new ToldTerms(fields.cost, terms));
    }

    private static Explanation.Exclusion exclusion(String place, JsonBody body) throws IOException, WireException {
        Fields fields = new Fields();
        body.object(place, name -> fields.take(name, body));
        String named = fields.text("reason");
        for (ExclusionReason reason : ExclusionReason.values()) {
            if (reason.name().toLowerCase(Locale.ROOT).equals(named)) {
                return new Explanation.Exclusion(fields.worker(), reason, fields.texts.get("filter"));
            }
        }
        throw WireException.misshapen(PLACE + ".reason", "unknown value", "a reason of ours");
    }

    /** Terms whose formula is the service's: it computed the cost from them. */
    private record ToldTerms(double cost, Map<String, Double> values) implements CostTerms {

        ToldTerms {
            values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        }
    }
}
