/** The index workloads: what each of them is, and the loop that times it. */
package dev.tandemkv.benchmarks.index;
