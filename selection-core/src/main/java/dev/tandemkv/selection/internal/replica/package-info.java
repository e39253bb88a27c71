/** Bookings and session bindings of peers: told, and mirrored. Nothing here decides whether a booking of this core counts. */
package dev.tandemkv.selection.internal.replica;
