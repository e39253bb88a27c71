package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.Experimental;

/** Which leg is chosen first, and so constrains the other. */
public enum PlanOrder {
    /** Prefill is booked first, by cache; decode follows, by load, inside the prefill worker's transfer domain. */
    PREFILL_ANCHORED,
    /** Decode is chosen first and may serve the request alone; otherwise prefill follows inside the decode worker's transfer domain. */
    DECODE_ANCHORED,
    /** The pair with the lowest cost of prefill, decode and transfer together. Needs two pools that can score. */
    @Experimental
    JOINT
}
