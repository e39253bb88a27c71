package dev.tandemkv.indexer.approximate;

/**
 * The modelled cache of one rank at one moment.
 *
 * @param capacity blocks that fit
 * @param copies block copies inside, in use or not
 * @param privateBlocks blocks of running requests that no hash names
 * @param distinctBlocks hashes with at least one copy
 * @param leases attempts that hold copies
 * @param overCapacity by how many blocks what is in use exceeds the capacity; usually 0
 */
public record CapacityStats(
        long capacity, long copies, long privateBlocks, long distinctBlocks, int leases, long overCapacity) {}
