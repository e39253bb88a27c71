package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;
import java.util.TreeSet;

/** What a dump says is held, however its events are cut: the set of blocks with their places. */
final class DumpBlocks {

    private DumpBlocks() {}

    static Set<String> of(JsonNode dump) {
        Set<String> blocks = new TreeSet<>();
        dump.fieldNames().forEachRemaining(partition -> {
            JsonNode content = dump.get(partition);
            blocks.add(partition + " block size " + content.get("block_size"));
            content.get("events").forEach(event -> apply(partition, event, blocks));
        });
        return blocks;
    }

    private static void apply(String partition, JsonNode row, Set<String> blocks) {
        JsonNode event = row.get("event");
        String holder = partition + " worker " + row.get("worker_id") + " rank " + event.get("dp_rank") + " on "
                + row.get("storage_tier") + " in " + row.get("residency_domain") + " block ";
        JsonNode data = event.get("data");
        if (data.has("stored")) {
            JsonNode parent = data.get("stored").get("parent_hash");
            for (JsonNode block : data.get("stored").get("blocks")) {
                blocks.add(
                        holder + block.get("block_hash") + " local " + block.get("tokens_hash") + " behind " + parent);
                parent = block.get("block_hash");
            }
        } else if (data.has("removed")) {
            for (JsonNode hash : data.get("removed").get("block_hashes")) {
                blocks.removeIf(block -> block.startsWith(holder + hash + " "));
            }
        } else {
            throw new AssertionError("a dump with " + data);
        }
    }
}
