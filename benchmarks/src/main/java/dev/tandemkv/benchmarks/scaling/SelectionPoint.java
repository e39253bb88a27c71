package dev.tandemkv.benchmarks.scaling;

/**
 * One partition of one size.
 *
 * @param blockTokens tokens per block
 * @param workers how many, each with one booking and two prompts in its cache
 * @param bookAndFree {@code selectAndReserve} and {@code free} of a prompt of 12,000 tokens, hashes given
 * @param allocatedBytes by one such pair
 */
record SelectionPoint(int blockTokens, int workers, Latency bookAndFree, double allocatedBytes) {}
