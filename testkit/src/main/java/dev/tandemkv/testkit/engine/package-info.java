/**
 * Engines that are not there: iteration-level prefill and decode, a block cache, and the KV events that a real engine would publish, all
 * in virtual time and driven by the caller.
 *
 * <p>Starting points: {@link dev.tandemkv.testkit.engine.EngineModel} says how long an iteration takes,
 * {@link dev.tandemkv.testkit.engine.FakeEngine} runs them.
 */
package dev.tandemkv.testkit.engine;
