package dev.tandemkv.selection.explain;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Selection;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Map;

/** Writes decisions as JSON, one object a line. 64-bit ids and hashes are unsigned decimal strings. */
final class DecisionLines {

    private final JsonFactory json = new JsonFactory();
    private final int maxHashes;

    /** @param maxHashes a longer prompt is written with its first hashes only */
    DecisionLines(int maxHashes) {
        this.maxHashes = maxHashes;
    }

    String line(DecisionRecord decision) throws IOException {
        StringWriter text = new StringWriter(512);
        try (JsonGenerator out = json.createGenerator(text)) {
            out.writeStartObject();
            out.writeNumberField("tick", decision.tick());
            selection(out, decision.selection());
            hashes(out, decision.blockHashes());
            if (decision.explanation() != null) {
                explanation(out, decision.explanation());
            }
            out.writeEndObject();
        }
        return text.toString();
    }

    private static void selection(JsonGenerator out, Selection selection) throws IOException {
        out.writeStringField("model_name", selection.partition().modelName());
        out.writeStringField("routing_group", selection.partition().routingGroup());
        if (selection.selectionId() != null) {
            out.writeStringField("selection_id", selection.selectionId());
        }
        worker(out, selection.worker());
        out.writeNumberField("block_size", selection.blockSize());
        out.writeNumberField("isl_tokens", selection.islTokens());
        out.writeNumberField("cached_tokens", selection.cachedTokens());
        out.writeNumberField("effective_prefill_tokens", selection.effectivePrefillTokens());
        out.writeNumberField("potential_decode_blocks", selection.potentialDecodeBlocks());
        out.writeNumberField("waited_nanos", selection.waitedNanos());
        out.writeStringField("rung", selection.rung().name());
    }

    private static void worker(JsonGenerator out, WorkerRank worker) throws IOException {
        out.writeStringField("worker", Long.toUnsignedString(worker.workerId()));
        out.writeNumberField("rank", Integer.toUnsignedLong(worker.rank()));
    }

    private void hashes(JsonGenerator out, long[] hashes) throws IOException {
        int written = Math.min(hashes.length, maxHashes);
        out.writeNumberField("blocks", hashes.length);
        out.writeArrayFieldStart("block_hashes");
        for (int i = 0; i < written; i++) {
            out.writeString(Long.toUnsignedString(hashes[i]));
        }
        out.writeEndArray();
    }

    private static void explanation(JsonGenerator out, Explanation explanation) throws IOException {
        out.writeStringField("policy", explanation.policy());
        out.writeNumberField("tied", explanation.tied());
        out.writeArrayFieldStart("candidates");
        for (Explanation.Candidate candidate : explanation.candidates()) {
            candidate(out, candidate);
        }
        out.writeEndArray();
        out.writeArrayFieldStart("excluded");
        for (Explanation.Exclusion exclusion : explanation.excluded()) {
            out.writeStartObject();
            worker(out, exclusion.worker());
            out.writeStringField("reason", exclusion.reason().name());
            if (exclusion.filter() != null) {
                out.writeStringField("filter", exclusion.filter());
            }
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberField("omitted_candidates", explanation.omittedCandidates());
        out.writeNumberField("omitted_exclusions", explanation.omittedExclusions());
    }

    private static void candidate(JsonGenerator out, Explanation.Candidate candidate) throws IOException {
        out.writeStartObject();
        worker(out, candidate.worker());
        out.writeNumberField("cost", candidate.cost());
        out.writeNumberField("device_blocks", candidate.deviceBlocks());
        out.writeNumberField("host_blocks", candidate.hostBlocks());
        out.writeNumberField("disk_blocks", candidate.diskBlocks());
        out.writeObjectFieldStart("terms");
        for (Explanation.Contribution contribution : candidate.contributions()) {
            out.writeObjectFieldStart(contribution.scorer());
            for (Map.Entry<String, Double> term : contribution.terms().values().entrySet()) {
                out.writeNumberField(term.getKey(), term.getValue());
            }
            out.writeEndObject();
        }
        out.writeEndObject();
        out.writeEndObject();
    }
}
