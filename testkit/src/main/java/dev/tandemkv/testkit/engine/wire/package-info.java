/**
 * A fake engine's events as the bytes of real releases, without a socket: what a publisher sends, what its replay socket answers, and what
 * can go wrong on the way.
 *
 * <p>Starting points: {@link dev.tandemkv.testkit.engine.wire.FakeRank} is a cache that announces what it does and knows what it holds;
 * {@link dev.tandemkv.testkit.engine.wire.EnginePublisher} alone turns given events into frames;
 * {@link dev.tandemkv.testkit.engine.wire.AnnouncedCache} lets a {@link dev.tandemkv.testkit.engine.FakeEngine} drive a rank.
 */
package dev.tandemkv.testkit.engine.wire;
