/** Coordinated requests under random faults, in virtual time, until nothing is held any more. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.benchmarks.soak;
