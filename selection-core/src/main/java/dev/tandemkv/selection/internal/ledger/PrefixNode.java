package dev.tandemkv.selection.internal.ledger;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A run of consecutive blocks in the {@link SharedPrefixTree}: those between two points where booked prompts part or end. The hashes are
 * {@code hashes[from .. from + length)}; the array may be shared with the node it was split from, and then it is never written again.
 */
final class PrefixNode {

    private static final long[] NO_HASHES = {};

    /** A free node keeps an array of its own up to this length for its next run, so that a short prompt's booking allocates none. */
    private static final int KEPT_HASHES = 32;

    /** Secret and different for each node, so that a client cannot choose hashes that meet in the child table. */
    final long salt;

    final Holders holders = new Holders();

    long[] hashes = NO_HASHES;
    /** Whether another node has, or had, the array too. */
    private boolean shared;

    int from;
    int length;

    /** Bookings that end with this node. */
    int terminals;

    @Nullable
    PrefixNode parent;

    @Nullable
    PrefixNode firstChild;

    @Nullable
    PrefixNode nextSibling;

    @Nullable
    PrefixNode previousSibling;

    PrefixNode(long salt) {
        this.salt = salt;
    }

    long firstHash() {
        return hashes[from];
    }

    /** Makes this a free node's first run: a copy of some blocks of a prompt. */
    void copyRun(long[] prompt, int first, int end) {
        length = end - first;
        if (length > hashes.length || isMostlyEmpty()) {
            hashes = Arrays.copyOfRange(prompt, first, end);
        } else {
            System.arraycopy(prompt, first, hashes, 0, length);
        }
    }

    /** Makes this the beginning of another node's run. */
    void shareRun(PrefixNode of, int blocks) {
        hashes = of.hashes;
        from = of.from;
        length = blocks;
        shared = true;
        of.shared = true;
    }

    /** How many blocks of this node a prompt has, from its block {@code at} on. */
    int matchLength(long[] prompt, int at, int count) {
        int most = Math.min(length, count - at);
        int different = Arrays.mismatch(hashes, from, from + most, prompt, at, at + most);
        return different < 0 ? most : different;
    }

    void addChild(PrefixNode child) {
        child.parent = this;
        child.previousSibling = null;
        child.nextSibling = firstChild;
        if (firstChild != null) {
            firstChild.previousSibling = child;
        }
        firstChild = child;
    }

    void removeChild(PrefixNode child) {
        if (child.previousSibling != null) {
            child.previousSibling.nextSibling = child.nextSibling;
        } else {
            firstChild = child.nextSibling;
        }
        if (child.nextSibling != null) {
            child.nextSibling.previousSibling = child.previousSibling;
        }
        child.parent = null;
        child.previousSibling = null;
        child.nextSibling = null;
    }

    @Nullable
    PrefixNode onlyChild() {
        return firstChild != null && firstChild.nextSibling == null ? firstChild : null;
    }

    /** Takes the run of the node above in front of its own. */
    void prepend(PrefixNode above) {
        if (above.hashes == hashes && above.from + above.length == from) {
            from = above.from;
        } else {
            long[] joined = new long[above.length + length];
            System.arraycopy(above.hashes, above.from, joined, 0, above.length);
            System.arraycopy(hashes, from, joined, above.length, length);
            hashes = joined;
            shared = false;
            from = 0;
        }
        length += above.length;
    }

    /** Lets go of an array that is mostly the rest of a longer prompt, gone since. */
    void trim() {
        if (isMostlyEmpty()) {
            hashes = Arrays.copyOfRange(hashes, from, from + length);
            shared = false;
            from = 0;
        }
    }

    private boolean isMostlyEmpty() {
        return hashes.length > 2 * length + 8;
    }

    void clear() {
        holders.clear();
        if (shared || hashes.length > KEPT_HASHES) {
            hashes = NO_HASHES;
            shared = false;
        }
        from = 0;
        length = 0;
        terminals = 0;
        parent = null;
        firstChild = null;
        nextSibling = null;
        previousSibling = null;
    }
}
