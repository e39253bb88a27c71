package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.host.RemoteIndex.Match;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the answer to a query of an index service. Ours tells blocks per rank and tier; another tells tokens on the device alone, which are
 * divided by the block size of its instances.
 *
 * @param tiers device, host and disk blocks of each rank, where they are told
 * @param deviceTokens tokens on the device of each rank
 */
public record FoundReader(Map<WorkerRank, List<Integer>> tiers, Map<WorkerRank, Long> deviceTokens) {

    public static FoundReader read(JsonBody body) throws IOException, WireException {
        FoundReader found = new FoundReader(new HashMap<>(), new HashMap<>());
        body.object("answer", name -> {
            switch (name) {
                case "scores" ->
                    body.map(
                            name,
                            (id, at) -> body.map(
                                    at,
                                    (rank, there) -> found.deviceTokens.put(rank(id, rank), body.unsigned64(there))));
                case "tiers" ->
                    body.map(
                            name,
                            (id, at) -> body.map(at, (rank, there) -> {
                                List<Integer> blocks = new ArrayList<>();
                                body.list(there, each -> blocks.add(body.unsigned32(each)));
                                found.tiers.put(rank(id, rank), blocks);
                            }));
                default -> {
                    return false;
                }
            }
            return true;
        });
        return found;
    }

    private static WorkerRank rank(String instance, String rank) throws WireException {
        try {
            return new WorkerRank(Long.parseUnsignedLong(instance), Integer.parseUnsignedInt(rank));
        } catch (NumberFormatException e) {
            throw WireException.malformed("scores: a key that is no number (expected: instances and ranks)");
        }
    }

    /** Whether the block size is needed to understand it. */
    public boolean isInTokens() {
        return tiers.isEmpty() && !deviceTokens.isEmpty();
    }

    /** @param blockSize only looked at where the answer is in tokens */
    public List<Match> matches(int blockSize) {
        List<Match> matches = new ArrayList<>();
        if (isInTokens()) {
            deviceTokens.forEach((rank, tokens) -> matches.add(new Match(rank, (int) (tokens / blockSize), 0, 0)));
        } else {
            tiers.forEach((rank, blocks) ->
                    matches.add(new Match(rank, block(blocks, 0), block(blocks, 1), block(blocks, 2))));
        }
        return matches;
    }

    private static int block(List<Integer> blocks, int tier) {
        return tier < blocks.size() ? Math.max(0, blocks.get(tier)) : 0;
    }
}
