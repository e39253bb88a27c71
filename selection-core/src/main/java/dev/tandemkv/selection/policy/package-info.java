/**
 * How a worker is chosen among those a request may use: filters drop candidates, scorers give each a cost, a picker takes one.
 *
 * <p>Starting points: the static factories of {@link dev.tandemkv.selection.policy.SelectionPolicy}; for a policy of your own {@link
 * dev.tandemkv.selection.policy.WorkerScorer} and {@link dev.tandemkv.selection.policy.SelectionPolicy#of}; for policies named in a file
 * {@link dev.tandemkv.selection.policy.PolicyRegistry}.
 */
package dev.tandemkv.selection.policy;
