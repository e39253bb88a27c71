package dev.tandemkv.selection.internal.replica;

/**
 * Names one booking among all replicas.
 *
 * @param owner unsigned id of the replica that made it
 * @param requestId its selection id
 * @param attempt the owner's attempt, which tells bookings under one id apart, also those of its earlier lives
 */
record BookingKey(long owner, String requestId, long attempt) {}
