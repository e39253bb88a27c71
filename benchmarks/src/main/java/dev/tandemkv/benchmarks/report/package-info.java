/** Samples, figures, and one JSON document per run in the form that the public Rust harness writes, so that both sides can be compared. */
package dev.tandemkv.benchmarks.report;
