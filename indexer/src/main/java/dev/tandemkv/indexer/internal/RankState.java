package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.SourceTraits;
import org.jspecify.annotations.Nullable;

/** What the index keeps per rank beside its bits in the tree. Written by the writer; readers look at {@link #names} inside a section check. */
final class RankState {

    final WorkerRank rank;
    final int slot;
    SourceTraits traits;

    /** Device blocks held. */
    long held;

    /** Slot where the next removal is expected, or 0: engines evict in the order of the chain. Any value is safe, it is verified. */
    int expectedRemoval;

    /** Own hashes of blocks that stand in the slab under another one; null while there are none. */
    @Nullable
    OwnNames names;

    /** Copies of a held block where they are not exactly one sure copy: the count, or its complement where it may be short. Null while empty. */
    @Nullable
    LongCounts copies;

    /** Blocks dropped while their count may have been short. Null while empty. */
    @Nullable
    Memory memory;

    RankState(WorkerRank rank, int slot, SourceTraits traits) {
        this.rank = rank;
        this.slot = slot;
        this.traits = traits;
    }

    boolean hasNames() {
        return names != null && !names.isEmpty();
    }

    /** Whether the rank, which holds the slot, does so under own names only. */
    boolean refuses(int slot) {
        return names != null && !names.isEmpty() && names.refuses(slot);
    }

    boolean remembersAny() {
        return memory != null && !memory.isEmpty();
    }

    boolean countsAny() {
        return copies != null && !copies.isEmpty();
    }
}
