package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Several indexes with their shares of the ranks. As thread-safe as they are. */
final class JoinedIndex implements RemoteIndex {

    private final List<RemoteIndex> indexes;

    JoinedIndex(List<? extends RemoteIndex> indexes) {
        this.indexes = List.copyOf(indexes);
        if (this.indexes.isEmpty()) {
            throw new IllegalArgumentException("indexes: none (expected: at least one)");
        }
    }

    @Override
    public CompletionStage<List<Match>> lookup(PartitionKey partition, long[] blockHashes) {
        List<CompletionStage<List<Match>>> asked = new ArrayList<>(indexes.size());
        for (RemoteIndex index : indexes) {
            asked.add(index.lookup(partition, blockHashes));
        }
        CompletionStage<List<Match>> all = CompletableFuture.completedStage(List.of());
        for (CompletionStage<List<Match>> one : asked) {
            all = all.thenCombine(one, JoinedIndex::together);
        }
        return all;
    }

    private static List<Match> together(List<Match> some, List<Match> more) {
        List<Match> both = new ArrayList<>(some.size() + more.size());
        both.addAll(some);
        both.addAll(more);
        return both;
    }
}
