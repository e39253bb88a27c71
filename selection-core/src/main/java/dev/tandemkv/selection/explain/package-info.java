/**
 * Why this worker: what a decision saw and computed, a log of decisions, and what the choices gave up.
 *
 * <p>Starting points: {@link dev.tandemkv.selection.explain.Explanation}, {@link dev.tandemkv.selection.explain.DecisionLog}.
 */
package dev.tandemkv.selection.explain;
