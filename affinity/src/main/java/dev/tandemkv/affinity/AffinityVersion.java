package dev.tandemkv.affinity;

/**
 * Age of a binding across replicas: lexicographic, unsigned, higher wins.
 *
 * @param sequence unsigned; starts at wall-clock nanoseconds since the epoch, so that a restarted replica outranks its earlier life
 * @param writerId unsigned id of the replica that made the binding; 0 where replication is off
 */
public record AffinityVersion(long sequence, long writerId) implements Comparable<AffinityVersion> {

    @Override
    public int compareTo(AffinityVersion other) {
        int bySequence = Long.compareUnsigned(sequence, other.sequence);
        return bySequence != 0 ? bySequence : Long.compareUnsigned(writerId, other.writerId);
    }

    public boolean isNewerThan(AffinityVersion other) {
        return compareTo(other) > 0;
    }

    /** {@code sequence@writer}, both unsigned. */
    @Override
    public String toString() {
        return Long.toUnsignedString(sequence) + '@' + Long.toUnsignedString(writerId);
    }
}
