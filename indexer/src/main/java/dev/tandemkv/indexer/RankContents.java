package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * All that the index holds of one rank, as a recipe: {@link PrefixIndex#restore} into an empty rank gives the same scores, sizes, copies and
 * memory. The lists are immutable; the arrays are the caller's and are never written again.
 *
 * @param rank whose contents
 * @param traits of its source
 * @param stores device chains under the rank's own external hashes, every parent before its children. They include the blocks that the rank
 *     lacks but that lead to one it holds
 * @param lacking external hashes of those blocks that are not held, to be removed after the stores. The first {@code remembered} of them are
 *     remembered, oldest first
 * @param remembered how many of {@code lacking} are in the rank's memory of blocks dropped while their count may have been short
 * @param counted external hashes of held blocks with more than one copy, or whose count may be short
 * @param copies one count per {@code counted}, at least 1; negative (the complement of the count) where it may be short
 * @param lowerTiers single-block stores of the lower tiers, each with its tier and ownership
 */
public record RankContents(
        WorkerRank rank,
        SourceTraits traits,
        List<KvEvent.Stored> stores,
        long[] lacking,
        int remembered,
        long[] counted,
        int[] copies,
        List<KvEvent.Stored> lowerTiers) {

    public RankContents {
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(traits, "traits");
        stores = List.copyOf(stores);
        lowerTiers = List.copyOf(lowerTiers);
        if (remembered < 0 || remembered > lacking.length) {
            throw new IllegalArgumentException(
                    "remembered: " + remembered + " (expected: 0 to " + lacking.length + ", the lacking blocks)");
        }
        if (counted.length != copies.length) {
            throw new IllegalArgumentException(
                    "copies: " + copies.length + " (expected: " + counted.length + ", one per counted hash)");
        }
    }

    /** The same content under another source. Where only that one counts copies, as {@link #withUncertainCopies()}. */
    public RankContents forSource(SourceTraits source) {
        RankContents same = new RankContents(rank, source, stores, lacking, remembered, counted, copies, lowerTiers);
        return source.countsCopies() && !traits.countsCopies() ? same.withUncertainCopies() : same;
    }

    /**
     * The same content where nothing is known of copies: every held block has one that may be short, so that a later proof of holding can put it
     * right (decision D-DUP).
     */
    public RankContents withUncertainCopies() {
        Set<Long> held = new LinkedHashSet<>();
        stores.forEach(store -> Arrays.stream(store.externalHashes()).forEach(held::add));
        Arrays.stream(lacking).forEach(held::remove);
        long[] all = held.stream().mapToLong(Long::longValue).toArray();
        int[] one = new int[all.length];
        Arrays.fill(one, ~1);
        return new RankContents(rank, traits, stores, lacking, remembered, all, one, lowerTiers);
    }

    /** Number of copies of the i-th counted block. */
    public int copiesAt(int i) {
        return copies[i] < 0 ? ~copies[i] : copies[i];
    }

    /** Whether the count of the i-th counted block may be short. */
    public boolean mayBeShortAt(int i) {
        return copies[i] < 0;
    }
}
