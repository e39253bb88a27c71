/** The selection workloads: the policy alone, a booked selection with its release, and the ledger alone. */
package dev.tandemkv.benchmarks.selection;
