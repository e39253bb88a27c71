/**
 * One request on the gateway's side: choose a worker with the session's affinity, dispatch, follow the response, and let go of the booking
 * on every path. {@link dev.tandemkv.coordinator.host.RoutingHost} routes; {@link dev.tandemkv.coordinator.host.HandOvers} follows the KV
 * that a prefill worker has staged for a decode worker.
 */
package dev.tandemkv.coordinator.host;
