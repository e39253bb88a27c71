package dev.tandemkv.testkit.sim;

import dev.tandemkv.testkit.engine.EngineModel;
import java.util.Objects;

/**
 * The engines of a run, all alike.
 *
 * @param model how they batch and how long that takes
 * @param cacheBlocks blocks that each of them caches; at least 1
 * @param delivery when the router learns of their caches
 */
public record EngineSetup(EngineModel model, int cacheBlocks, EventDelivery delivery) {

    /** L70-TP4 with 16,384 blocks, as with a host tier behind the GPUs; the router's view is exact. */
    public static final EngineSetup DEFAULT = new EngineSetup(EngineModel.L70_TP4, 16_384, EventDelivery.IMMEDIATE);

    /** @throws IllegalArgumentException naming the field */
    public EngineSetup {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(delivery, "delivery");
        if (cacheBlocks < 1) {
            throw new IllegalArgumentException("cacheBlocks: " + cacheBlocks + " (expected: >= 1)");
        }
    }

    public EngineSetup withCacheBlocks(int blocks) {
        return new EngineSetup(model, blocks, delivery);
    }

    public EngineSetup withDelivery(EventDelivery newDelivery) {
        return new EngineSetup(model, cacheBlocks, newDelivery);
    }
}
