package dev.tandemkv.examples.quickstart;

import dev.tandemkv.testkit.report.NamedResult;

/**
 * A result, and how long the machine took for it.
 *
 * @param named the result
 * @param wallMillis real time; the only figure that two runs do not have in common
 */
record TimedRun(NamedResult named, double wallMillis) {}
