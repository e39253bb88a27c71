/**
 * What the host lends a core: load signals, caches, eligibility, telemetry, replication and the index. {@link
 * dev.tandemkv.selection.host.SelectionHost} collects the ports; each one that is not given behaves as in a process of its own.
 *
 * <p>Ports marked as called inside the partition step must answer at once from what they know: they must not block, call back into the
 * core, or throw. One that throws fails its request only.
 */
package dev.tandemkv.selection.host;
