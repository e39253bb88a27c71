/** Lincheck: every interleaving of small scenarios, compared with a sequential model (profile {@code concurrency}). */
package dev.tandemkv.benchmarks.lincheck;
