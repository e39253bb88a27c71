package dev.tandemkv.testkit.engine;

/**
 * What an engine tells its driver, on the driver's thread, while the driver is inside {@link FakeEngine#start} or
 * {@link FakeEngine#endIteration}. A listener must not call back into the engine.
 */
public interface EngineListener {

    /**
     * A request joins the batch: it has its room, and what it need not compute is known.
     *
     * @param cachedTokens prompt tokens found in the cache
     */
    void admitted(EngineRequest request, int cachedTokens);

    /** The prompt is computed and the first token is out. Never for {@link EngineRequest.Work#DECODE_ONLY}. */
    void firstToken(EngineRequest request);

    /** The request, prompt and output, has grown into one more block. */
    void grewByBlock(EngineRequest request);

    /** The request has all its tokens and has left the engine. */
    void finished(EngineRequest request);

    /**
     * The cache holds these blocks now: {@code blocks[from]} to {@code blocks[to - 1]} of the request. Partly filled blocks are never told.
     */
    void stored(EngineRequest request, int from, int to);

    /** The cache has lost a block, of those it was told to hold or not. */
    void evicted(int block);
}
