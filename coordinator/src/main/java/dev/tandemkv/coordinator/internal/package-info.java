/**
 * How a plan is carried out. {@link dev.tandemkv.coordinator.internal.PlanRun} holds one plan's state behind one lock, never calls a pool
 * or completes anything under it; the flows ({@code PrefillAnchored}, {@code DecodeAnchored}, {@code Joint}) say what happens in which
 * order; {@code FreeTask} brings one release to its end.
 */
package dev.tandemkv.coordinator.internal;
