package dev.tandemkv.indexer.event;

import dev.tandemkv.indexer.Tier;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One change of one rank's cache, in the neutral form that every engine's bytes are translated to. Immutable by contract: the arrays are
 * not copied, and whoever hands them over must not change them afterwards.
 *
 * <p>All hashes are unsigned 64-bit values. An <em>external</em> hash is the engine's own cumulative hash of a block: opaque, the key of
 * removals and of the parent link. A <em>local</em> hash covers the block's content alone and is what requests are matched by.
 */
public sealed interface KvEvent permits KvEvent.Stored, KvEvent.Removed, KvEvent.Cleared {

    /** Whose cache a block lives in. */
    enum ResidencyDomain {
        /** The worker's own cache. */
        WORKER,
        /** A cache that outlives the worker; parsed, and rejected by the index. */
        CACHE_OWNER
    }

    /**
     * The rank now holds a chain of blocks.
     *
     * @param tier where they lie
     * @param ownership name of the store where one medium has several, or {@code null}; counts on lower tiers only
     * @param residency whose cache it is
     * @param parent external hash of the block before the first, or {@code null} at the root
     * @param externalHashes one per block, in chain order
     * @param localHashes one per block, as many as external ones
     */
    record Stored(
            Tier tier,
            @Nullable String ownership,
            ResidencyDomain residency,
            @Nullable Long parent,
            long[] externalHashes,
            long[] localHashes)
            implements KvEvent {

        /** @throws IllegalArgumentException if the two lists differ in length */
        public Stored {
            Objects.requireNonNull(tier, "tier");
            Objects.requireNonNull(residency, "residency");
            if (externalHashes.length != localHashes.length) {
                throw new IllegalArgumentException("localHashes: " + localHashes.length + " (expected: "
                        + externalHashes.length + ", one per external hash)");
            }
        }

        /** A store into the rank's own device cache. */
        public static Stored device(@Nullable Long parent, long[] externalHashes, long[] localHashes) {
            return in(Tier.DEVICE, parent, externalHashes, localHashes);
        }

        /** A store into one tier of the rank's own cache. */
        public static Stored in(Tier tier, @Nullable Long parent, long[] externalHashes, long[] localHashes) {
            return new Stored(tier, null, ResidencyDomain.WORKER, parent, externalHashes, localHashes);
        }

        public int blocks() {
            return externalHashes.length;
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Stored other
                    && tier == other.tier
                    && residency == other.residency
                    && Objects.equals(ownership, other.ownership)
                    && Objects.equals(parent, other.parent)
                    && Arrays.equals(externalHashes, other.externalHashes)
                    && Arrays.equals(localHashes, other.localHashes);
        }

        @Override
        public int hashCode() {
            return Objects.hash(
                    tier, ownership, residency, parent, Arrays.hashCode(externalHashes), Arrays.hashCode(localHashes));
        }

        @Override
        public String toString() {
            return "Stored[" + tier + (ownership == null ? "" : " " + ownership) + ", parent="
                    + (parent == null ? "none" : Long.toUnsignedString(parent)) + ", blocks=" + externalHashes.length
                    + ']';
        }
    }

    /**
     * The rank no longer holds these blocks (one copy of each, where copies are counted).
     *
     * @param tier where they lay
     * @param ownership name of the store they leave, or {@code null}
     * @param residency whose cache it is
     * @param externalHashes the engine's hashes, in the order of the event
     */
    record Removed(Tier tier, @Nullable String ownership, ResidencyDomain residency, long[] externalHashes)
            implements KvEvent {

        public Removed {
            Objects.requireNonNull(tier, "tier");
            Objects.requireNonNull(residency, "residency");
            Objects.requireNonNull(externalHashes, "externalHashes");
        }

        /** A removal from the rank's own device cache. */
        public static Removed device(long... externalHashes) {
            return in(Tier.DEVICE, externalHashes);
        }

        /** A removal from one tier of the rank's own cache. */
        public static Removed in(Tier tier, long... externalHashes) {
            return new Removed(tier, null, ResidencyDomain.WORKER, externalHashes);
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Removed other
                    && tier == other.tier
                    && residency == other.residency
                    && Objects.equals(ownership, other.ownership)
                    && Arrays.equals(externalHashes, other.externalHashes);
        }

        @Override
        public int hashCode() {
            return Objects.hash(tier, ownership, residency, Arrays.hashCode(externalHashes));
        }

        @Override
        public String toString() {
            return "Removed[" + tier + (ownership == null ? "" : " " + ownership) + ", blocks=" + externalHashes.length
                    + ']';
        }
    }

    /** The rank's cache is empty, on every tier. */
    record Cleared() implements KvEvent {}
}
