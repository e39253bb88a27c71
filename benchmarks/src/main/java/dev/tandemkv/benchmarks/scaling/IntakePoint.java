package dev.tandemkv.benchmarks.scaling;

/**
 * What following engines costs, per message of one engine step: so many blocks stored and as many removed.
 *
 * @param blockTokens tokens per block
 * @param ranks engines
 * @param blocks stored by a message
 * @param socketThreadNanos CPU of the ingress' thread per message: receiving, decoding, hashing, applying
 * @param jeroMqNanos CPU of JeroMQ's own threads per message, of both ends
 */
record IntakePoint(int blockTokens, int ranks, int blocks, double socketThreadNanos, double jeroMqNanos) {}
