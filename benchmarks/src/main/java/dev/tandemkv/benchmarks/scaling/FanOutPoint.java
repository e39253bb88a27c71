package dev.tandemkv.benchmarks.scaling;

/**
 * One message to several peers.
 *
 * @param peers how many
 * @param deliveries messages that arrived, all peers together, for each one sent
 * @param senderNanos CPU of the sender's socket thread for each one sent
 */
record FanOutPoint(int peers, double deliveries, double senderNanos) {}
