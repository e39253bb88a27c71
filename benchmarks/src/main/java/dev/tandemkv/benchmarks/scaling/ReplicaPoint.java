package dev.tandemkv.benchmarks.scaling;

/**
 * What one booking costs the gateways that are told of it: booked, prefill complete, freed.
 *
 * @param blocks of the prompt
 * @param trackedBlocks whether prompt blocks are booked, and so told
 * @param messages sent, once for all peers
 * @param bytes of those, topics included, ZeroMQ's framing and TCP's not
 * @param senderNanos CPU of the sender's socket thread
 * @param receiverNanos CPU of the receiver's socket thread: reading, decoding, and counting in the ledger
 */
record ReplicaPoint(
        int blocks, boolean trackedBlocks, double messages, double bytes, double senderNanos, double receiverNanos) {}
