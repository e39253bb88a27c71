/**
 * Replays of a trace against the production routing code, in virtual time.
 *
 * <p>Starting points: {@link dev.tandemkv.testkit.sim.Simulation}, and {@link dev.tandemkv.testkit.sim.SimulationResult} for what it
 * answers.
 */
package dev.tandemkv.testkit.sim;
