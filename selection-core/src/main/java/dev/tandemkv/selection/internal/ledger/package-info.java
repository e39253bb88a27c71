/**
 * What is promised on each rank: bookings, the decode blocks they hold (shared prefixes once), their prefill load and its decay, and
 * when the ones without a live handle expire. Not thread-safe: a partition calls it inside its step only.
 */
package dev.tandemkv.selection.internal.ledger;
