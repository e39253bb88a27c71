/**
 * Who waits, and who goes next: classes that share by deficit round robin, tiers that age, lanes for pinned requests. A data structure
 * only; the partition decides when to look and what a dispatch is. Not thread-safe: called inside the partition step.
 */
package dev.tandemkv.selection.internal.queue;
