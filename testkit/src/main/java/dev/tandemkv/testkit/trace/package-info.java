/**
 * Request traces: what arrives when, how long it is, and which blocks it shares with what came before.
 *
 * <p>Starting points: {@link dev.tandemkv.testkit.trace.TraceReader} reads a file, {@link dev.tandemkv.testkit.trace.Trace} reshapes it,
 * {@link dev.tandemkv.testkit.trace.TraceStatistics} describes it.
 */
package dev.tandemkv.testkit.trace;
