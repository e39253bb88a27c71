/** Benchmarks of the library, on the workloads of the public Rust harness and some of our own; never published. */
package dev.tandemkv.benchmarks;
