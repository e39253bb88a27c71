package dev.tandemkv.indexer.internal;

/**
 * The external hashes under which one rank holds blocks that stand in the slab under another hash (engines seed their hashes differently).
 *
 * <p>Per slot the names form a list; the flag of its head says whether the rank holds the slot under the slab's hash as well. Where a list exists and
 * the flag is off, the slab's hash means nothing for this rank. The writer changes everything inside sections; readers follow slot -> head -> hash.
 */
final class OwnNames {

    private static final int FIRST = 16;

    private final Sequence sequence;
    private final ByteCount bytes;
    private final ExtNodes nodes;

    /** Head node by slot, linear probing at a load of at most 0.7; 0 = empty. */
    private int[] heads = new int[FIRST];

    private int lists;

    OwnNames(Sequence sequence, ByteCount bytes, long multiplier) {
        this.sequence = sequence;
        this.bytes = bytes;
        nodes = new ExtNodes(bytes, multiplier);
        bytes.add(ByteCount.ints(FIRST));
    }

    long heldBytes() {
        return nodes.heldBytes() + ByteCount.ints(heads.length);
    }

    boolean isEmpty() {
        return nodes.isEmpty();
    }

    int count() {
        return nodes.count();
    }

    private static int home(int slot, int[] table) {
        return (slot * 0x9E3779B1) >>> Integer.numberOfLeadingZeros(table.length - 1);
    }

    /** The first name's node of a slot, or 0. Also for readers: the search ends whatever the table holds. */
    int head(int slot) {
        int[] table = heads;
        int i = home(slot, table);
        for (int steps = table.length; steps > 0 && table[i] != 0; steps--) {
            if (nodes.slot(table[i]) == slot) {
                return table[i];
            }
            i = i + 1 & table.length - 1;
        }
        return 0;
    }

    /** The rank's own hash of a slot that it holds and that stands in the slab as {@code canonical}. For readers. */
    long nameOf(int slot, long canonical) {
        int head = head(slot);
        return head == 0 || nodes.flag(head) ? canonical : nodes.ext(head);
    }

    /** Whether the rank does not hold the slot, which it holds, under the slab's hash. */
    boolean refuses(int slot) {
        int head = head(slot);
        return head != 0 && !nodes.flag(head);
    }

    /** The node of one of the rank's own hashes, or 0. */
    int find(long ext) {
        return nodes.find(ext);
    }

    int slot(int node) {
        return nodes.slot(node);
    }

    int next(int node) {
        return nodes.next(node);
    }

    long ext(int node) {
        return nodes.ext(node);
    }

    /** Adds a name. {@code canonicalToo} counts for the first name of a slot only: whether the rank holds it under the slab's hash as well. */
    void add(long ext, int slot, boolean canonicalToo) {
        sequence.begin();
        int head = head(slot);
        int node = nodes.add(ext, slot);
        if (head == 0) {
            nodes.setFlag(node, canonicalToo);
            putHead(node, slot);
        } else {
            int second = nodes.next(head);
            nodes.setNext(node, second);
            nodes.setPrevious(node, head);
            nodes.setNext(head, node);
            if (second != 0) {
                nodes.setPrevious(second, node);
            }
        }
        sequence.end();
    }

    /** Says whether the rank holds a slot with names under the slab's hash as well. */
    void setCanonical(int slot, boolean held) {
        sequence.begin();
        nodes.setFlag(head(slot), held);
        sequence.end();
    }

    /** Takes a name out; answers whether the rank still holds its slot under any other. */
    boolean remove(int node) {
        int slot = nodes.slot(node);
        int nextNode = nodes.next(node);
        int before = nodes.previous(node);
        boolean canonicalToo = nodes.flag(head(slot));
        sequence.begin();
        if (before != 0) {
            nodes.setNext(before, nextNode);
            if (nextNode != 0) {
                nodes.setPrevious(nextNode, before);
            }
        } else {
            int i = indexOf(slot);
            if (nextNode != 0) {
                heads[i] = nextNode;
                nodes.setPrevious(nextNode, 0);
                nodes.setFlag(nextNode, canonicalToo);
            } else {
                removeHead(i);
            }
        }
        nodes.remove(node);
        sequence.end();
        return before != 0 || nextNode != 0 || canonicalToo;
    }

    private int indexOf(int slot) {
        int i = home(slot, heads);
        while (nodes.slot(heads[i]) != slot) {
            i = i + 1 & heads.length - 1;
        }
        return i;
    }

    private void putHead(int node, int slot) {
        if ((lists + 1) * 10L > heads.length * 7L) {
            int[] old = heads;
            int[] bigger = new int[old.length * 2];
            bytes.add(4L * old.length);
            for (int other : old) {
                if (other != 0) {
                    place(bigger, other, nodes.slot(other));
                }
            }
            heads = bigger;
        }
        place(heads, node, slot);
        lists++;
    }

    private static void place(int[] table, int node, int slot) {
        int i = home(slot, table);
        while (table[i] != 0) {
            i = i + 1 & table.length - 1;
        }
        table[i] = node;
    }

    private void removeHead(int index) {
        int mask = heads.length - 1;
        int hole = index;
        int i = hole;
        while (true) {
            i = i + 1 & mask;
            if (heads[i] == 0) {
                break;
            }
            int home = home(nodes.slot(heads[i]), heads);
            if ((i - home & mask) >= (i - hole & mask)) {
                heads[hole] = heads[i];
                hole = i;
            }
        }
        heads[hole] = 0;
        lists--;
    }

    long growthFor(int count) {
        return nodes.growthFor(count) + ByteCount.ints(heads.length * 2);
    }
}
