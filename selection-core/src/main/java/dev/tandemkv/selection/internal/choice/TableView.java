package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyInput;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The candidate table as one component may see it; made once for each component. */
final class TableView implements Candidates {

    private final CandidateTable table;
    private final @Nullable Cache cache;
    private final @Nullable Load load;
    private final @Nullable PreferredTaints taints;
    private final @Nullable Requests requests;

    TableView(CandidateTable table, Set<PolicyInput> inputs) {
        this.table = table;
        boolean loadToo = inputs.contains(PolicyInput.LOAD);
        cache = inputs.contains(PolicyInput.CACHE) ? new CacheColumns(table) : null;
        load = loadToo ? new LoadColumns(table) : null;
        taints = inputs.contains(PolicyInput.PREFERRED_TAINT) ? new TaintColumns(table) : null;
        requests = loadToo || inputs.contains(PolicyInput.ACTIVE_REQUEST_LOAD) ? table::activeRequests : null;
    }

    CandidateTable table() {
        return table;
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    public long workerId(int row) {
        return table.workerId(row);
    }

    @Override
    public int rank(int row) {
        return table.rank(row);
    }

    @Override
    public boolean directed() {
        return table.directed();
    }

    @Override
    public @Nullable Cache cache() {
        return cache;
    }

    @Override
    public @Nullable Load load() {
        return load;
    }

    @Override
    public @Nullable PreferredTaints preferredTaints() {
        return taints;
    }

    @Override
    public @Nullable Requests requests() {
        return requests;
    }

    private record CacheColumns(CandidateTable table) implements Cache {
        @Override
        public int deviceBlocks(int row) {
            return table.deviceBlocks(row);
        }

        @Override
        public int hostBlocks(int row) {
            return table.hostBlocks(row);
        }

        @Override
        public int diskBlocks(int row) {
            return table.diskBlocks(row);
        }

        @Override
        public int sharedBlocks(int row) {
            return table.sharedBlocks(row);
        }

        @Override
        public double weightedOverlapBlocks(int row) {
            return table.weightedOverlapBlocks(row);
        }

        @Override
        public double cachedTokens(int row) {
            return table.cachedTokens(row);
        }

        @Override
        public double uncachedTokens(int row) {
            return table.uncachedTokens(row);
        }

        @Override
        public boolean hasTierMatches() {
            return table.anyTier();
        }
    }

    private record LoadColumns(CandidateTable table) implements Load {
        @Override
        public long activePrefillTokens(int row) {
            return table.activePrefillTokens(row);
        }

        @Override
        public long activeDecodeBlocks(int row) {
            return table.activeDecodeBlocks(row);
        }

        @Override
        public long potentialDecodeBlocks(int row) {
            return table.potentialDecodeBlocks(row);
        }

        @Override
        public long totalKvBlocks(int row) {
            return table.totalKvBlocks(row);
        }
    }

    private record TaintColumns(CandidateTable table) implements PreferredTaints {
        @Override
        public boolean requested() {
            return table.taintsRequested();
        }

        @Override
        public double weight(int row) {
            return table.taintWeight(row);
        }
    }
}
