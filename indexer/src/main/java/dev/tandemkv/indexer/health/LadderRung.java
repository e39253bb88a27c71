package dev.tandemkv.indexer.health;

/** What a selection's knowledge of caches rests on, best first (decision D-LADDER). */
public enum LadderRung {
    /** The engines' own events. */
    EXACT_INDEX,
    /** What earlier bookings imply. */
    APPROXIMATE,
    /** Nothing: load alone decides. */
    LOAD_ONLY;

    /** The lower of two rungs. */
    public LadderRung worse(LadderRung other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
