/**
 * Pools for tests: a small correct one, one that injects faults into any other, and the conformance kit that tells whether a pool keeps
 * the contract of {@link dev.tandemkv.selection.SelectionPool}.
 */
package dev.tandemkv.testkit.pool;
