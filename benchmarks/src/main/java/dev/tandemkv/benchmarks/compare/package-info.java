/** Puts the documents of both sides of one interleaved run beside each other. */
package dev.tandemkv.benchmarks.compare;
