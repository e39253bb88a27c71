package dev.tandemkv.selection.internal.partition;

/**
 * What was known of a booking's prompt when it was booked: evidence, once it is served, of whether the cache signal lives.
 *
 * @param promptBlocks full blocks of the prompt; at least 1
 * @param heldBlocks those of them that the booked rank was known to hold
 * @param anyMatch whether the index knew any rank to hold the first
 */
public record Served(int promptBlocks, int heldBlocks, boolean anyMatch) {

    /** Whether serving it makes the engine store blocks, and say so. */
    boolean makesEvents() {
        return heldBlocks < promptBlocks;
    }

    /** What counts as the best match: at least one block where any rank had one. */
    int bestMatch() {
        return anyMatch ? Math.max(1, heldBlocks) : 0;
    }
}
