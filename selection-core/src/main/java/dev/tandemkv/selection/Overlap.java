package dev.tandemkv.selection;

import java.util.Map;

/**
 * What the chosen worker holds of the prompt, in tokens. The tier figures are cumulative: {@code cpu} includes {@code gpu}, {@code disk}
 * includes both; each is the most that any rank of the worker holds.
 *
 * @param longestMatched the longest match over all tiers
 * @param gpu device
 * @param cpu device and host
 * @param disk device, host, disk and external store
 * @param deviceByRank device tokens of each rank of the worker, by unsigned rank
 */
public record Overlap(long longestMatched, long gpu, long cpu, long disk, Map<Integer, Long> deviceByRank) {

    public static final Overlap NONE = new Overlap(0, 0, 0, 0, Map.of());

    public Overlap {
        deviceByRank = Map.copyOf(deviceByRank);
    }
}
