package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.CostTerms;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The terms and the effective weights of one {@link KvCost}. */
record KvCostTerms(
        double rawPrefillBlocks,
        double deviceWeight,
        double creditDecay,
        int deviceBlocks,
        double hostWeight,
        int hostBlocks,
        double diskWeight,
        int diskBlocks,
        double sharedWeight,
        int sharedBlocks,
        long potentialDecodeBlocks,
        double requestWeight,
        int activeRequests,
        double prefillScale,
        boolean decodeOnly,
        double taintFactor)
        implements CostTerms {

    @Override
    public double cost() {
        // A factor of 1 changes no bit, so that it can stay in the product where no taint is preferred.
        return KvCost.cost(
                        rawPrefillBlocks,
                        deviceWeight * creditDecay * deviceBlocks,
                        hostWeight * hostBlocks,
                        diskWeight * diskBlocks,
                        sharedWeight * sharedBlocks,
                        (double) potentialDecodeBlocks,
                        requestWeight * activeRequests,
                        prefillScale,
                        decodeOnly)
                * taintFactor;
    }

    @Override
    public Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("raw_prefill_blocks", rawPrefillBlocks);
        values.put("prefill_load_scale", prefillScale);
        values.put("overlap_score_credit", deviceWeight);
        values.put("credit_decay", creditDecay);
        values.put("device_blocks", (double) deviceBlocks);
        values.put("host_cache_hit_weight", hostWeight);
        values.put("host_blocks", (double) hostBlocks);
        values.put("disk_cache_hit_weight", diskWeight);
        values.put("disk_blocks", (double) diskBlocks);
        values.put("shared_cache_multiplier", sharedWeight);
        values.put("shared_blocks", (double) sharedBlocks);
        values.put("potential_decode_blocks", (double) potentialDecodeBlocks);
        values.put("decode_active_request_weight", requestWeight);
        values.put("active_requests", (double) activeRequests);
        values.put("decode_only", decodeOnly ? 1.0 : 0.0);
        values.put("taint_factor", taintFactor);
        return Collections.unmodifiableMap(values);
    }
}
