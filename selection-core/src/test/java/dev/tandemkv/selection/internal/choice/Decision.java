package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.config.WorkerSelection;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyScope;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

/** One decision of a policy, written down: the candidates, the request, and what comes out. */
final class Decision {

    static final ScoringConfig DEFAULTS = ScoringConfig.DEFAULT;

    record Row(
            WorkerRank worker,
            int device,
            int host,
            int disk,
            int shared,
            long prefill,
            long decode,
            int additional,
            int requests,
            double taint) {

        Row cached(int deviceBlocks, int hostBlocks, int diskBlocks) {
            return new Row(
                    worker, deviceBlocks, hostBlocks, diskBlocks, shared, prefill, decode, additional, requests, taint);
        }

        Row shared(int blocks) {
            return new Row(worker, device, host, disk, blocks, prefill, decode, additional, requests, taint);
        }

        /** Prefill tokens, and the decode projection with the request. */
        Row load(long prefillTokens, long potentialDecode) {
            return new Row(worker, device, host, disk, shared, prefillTokens, potentialDecode, 0, requests, taint);
        }

        Row requests(int count) {
            return new Row(worker, device, host, disk, shared, prefill, decode, additional, count, taint);
        }

        Row taint(double weight) {
            return new Row(worker, device, host, disk, shared, prefill, decode, additional, requests, weight);
        }
    }

    static Row worker(long id) {
        return new Row(WorkerRank.of(id), 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    private final ChoicePipeline pipeline;
    private final List<Row> rows = new ArrayList<>();
    private final SelectRequest.Builder request;
    private int blockSize = 16;
    private boolean tracks = true;
    private boolean taints;
    private boolean pinned;
    private RandomGenerator random = new SeededRandom(1);

    private Decision(SelectionPolicy policy, ScoringConfig scoring, long isl) {
        PolicyScope scope = new PolicyScope(PartitionKey.DEFAULT, WorkerSelection.Role.AGGREGATED, scoring);
        pipeline = new ChoicePipeline(
                policy.componentsFor(scope),
                new CandidateTable(scoring.hostCacheHitWeight(), scoring.diskCacheHitWeight()));
        request = SelectRequest.builder(Prompt.ofHashes(new long[0], new long[0], isl));
    }

    static Decision of(SelectionPolicy policy, long isl) {
        return new Decision(policy, DEFAULTS, isl);
    }

    static Decision kv(ScoringConfig scoring, long isl) {
        return new Decision(SelectionPolicy.kvAware(), scoring, isl);
    }

    Decision among(Row... candidates) {
        rows.clear();
        rows.addAll(List.of(candidates));
        rows.sort(Comparator.comparing(Row::worker, WorkerRank.UNSIGNED_ORDER));
        return this;
    }

    Decision blockSize(int tokens) {
        blockSize = tokens;
        return this;
    }

    Decision prefillUntracked() {
        tracks = false;
        return this;
    }

    Decision preferringTaints() {
        taints = true;
        return this;
    }

    Decision pinned() {
        pinned = true;
        return this;
    }

    Decision override(RouterConfigOverride override) {
        request.override(override);
        return this;
    }

    Decision affinity(AffinityTarget target) {
        request.affinityTarget(target);
        return this;
    }

    Decision random(RandomGenerator generator) {
        random = generator;
        return this;
    }

    PolicyContext context() {
        return new PolicyContext(request.build(), blockSize, tracks);
    }

    ChoicePipeline pipeline() {
        return pipeline;
    }

    ChoicePipeline fill() {
        CandidateTable table = pipeline.table();
        PolicyContext context = context();
        table.reset(context.islTokens(), blockSize);
        for (Row row : rows) {
            int at = table.add(row.worker.workerId(), row.worker.rank(), 0, 0);
            table.setLoad(at, row.prefill, row.decode, row.additional, row.requests);
            table.setTiers(at, row.device, row.host, row.disk);
            table.setShared(at, row.shared);
            if (taints) {
                table.preferTaints();
                table.setTaintWeight(at, row.taint);
            }
        }
        if (pinned) {
            table.setDirected();
        }
        return pipeline;
    }

    /** Costs by row, in unsigned order of the workers. */
    double[] costs() {
        fill();
        int left = pipeline.narrow(context(), ChoicePipeline.Rejections.IGNORED);
        return Arrays.copyOf(pipeline.score(context()), left);
    }

    WorkerRank chosen() {
        costs();
        return pipeline.table().worker(pipeline.pick(context(), random));
    }
}
