/** jcstress: two threads on the real memory of the machine, outcomes sorted into allowed and forbidden (profile {@code stress}). */
package dev.tandemkv.benchmarks.jcstress;
