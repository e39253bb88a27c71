package dev.tandemkv.selection.internal.ledger;

import dev.tandemkv.selection.BookingId;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The rules of the ledger written down as plainly as possible: a block is its whole path from the root, and everything is a map. */
final class NaiveLedger {

    static final class Block {
        final Set<String> owners = new HashSet<>();
        double weight = 1;
    }

    static final class Entry {
        final BookingTerms terms;
        final int row;
        final List<Long> hashes;
        PrefillHint prefill;
        boolean prefilling;
        int outputs;
        double outputWeight;
        Ownership ownership;
        long renewedAt;

        Entry(int row, BookingTerms terms, List<Long> hashes, long now) {
            this.terms = terms;
            this.row = row;
            this.hashes = hashes;
            prefill = terms.prefill();
            ownership = terms.ownership();
            renewedAt = now;
        }
    }

    static final class Row {
        final Map<List<Long>, Block> blocks = new HashMap<>();
        final List<Entry> prefills = new ArrayList<>();
        long anchoredAt;
    }

    final Map<String, Entry> live = new LinkedHashMap<>();
    private final Map<Integer, Row> rows = new HashMap<>();
    private final LeaseTimes leases;

    NaiveLedger(LeaseTimes leases) {
        this.leases = leases;
    }

    private Row row(int row) {
        return rows.computeIfAbsent(row, r -> new Row());
    }

    boolean add(int row, BookingTerms terms, List<Long> hashes, long now) {
        if (live.containsKey(terms.id().selectionId())) {
            return false;
        }
        Entry entry = new Entry(row, terms, hashes, now);
        live.put(terms.id().selectionId(), entry);
        for (int depth = 1; depth <= hashes.size(); depth++) {
            row(row).blocks
                    .computeIfAbsent(hashes.subList(0, depth), path -> new Block())
                    .owners
                    .add(name(entry));
        }
        charge(entry, terms.prefill(), now);
        return true;
    }

    private static String name(Entry entry) {
        return entry.terms.id().selectionId();
    }

    boolean charge(Entry entry, PrefillHint hint, long now) {
        if (entry.prefilling || hint.tokens() == 0) {
            return false;
        }
        entry.prefill = hint;
        entry.prefilling = true;
        Row row = row(entry.row);
        if (row.prefills.isEmpty()) {
            row.anchoredAt = now;
        }
        row.prefills.add(entry);
        return true;
    }

    boolean endPrefill(Entry entry, long now) {
        if (!entry.prefilling) {
            return false;
        }
        entry.prefilling = false;
        Row row = row(entry.row);
        int at = row.prefills.indexOf(entry);
        row.prefills.remove(at);
        if (at == 0) {
            row.anchoredAt = now;
        } else if (entry.prefill.expectedNanos() >= 0) {
            row.anchoredAt = Math.min(now, row.anchoredAt + entry.prefill.expectedNanos());
        }
        return true;
    }

    void output(Entry entry, int blocks) {
        entry.outputs += blocks;
        entry.outputWeight += blocks;
    }

    void output(Entry entry, int blocks, double fraction) {
        entry.outputs += blocks;
        entry.outputWeight = entry.outputs * fraction;
        for (int depth = entry.hashes.size(); depth > 0; depth--) {
            Block block = row(entry.row).blocks.get(entry.hashes.subList(0, depth));
            if (block.owners.size() > 1) {
                return;
            }
            block.weight = fraction;
        }
    }

    void free(Entry entry, long now) {
        live.remove(name(entry));
        endPrefill(entry, now);
        for (int depth = entry.hashes.size(); depth > 0; depth--) {
            List<Long> path = entry.hashes.subList(0, depth);
            Block block = row(entry.row).blocks.get(path);
            block.owners.remove(name(entry));
            if (block.owners.isEmpty()) {
                row(entry.row).blocks.remove(path);
            }
        }
    }

    List<BookingId> expire(long now) {
        List<BookingId> expired = new ArrayList<>();
        for (Entry entry : List.copyOf(live.values())) {
            long lifetime = switch (entry.ownership) {
                case HANDLE -> Long.MAX_VALUE;
                case EXTERNAL -> leases.externalNanos();
                case REPLICA -> leases.replicaNanos();
            };
            if (now - entry.renewedAt > lifetime) {
                expired.add(entry.terms.id());
                free(entry, now);
            }
        }
        return expired;
    }

    long decodeBlocks(int row) {
        double total = row(row).blocks.values().stream()
                .mapToDouble(block -> block.weight)
                .sum();
        for (Entry entry : live.values()) {
            total += entry.row == row ? entry.outputWeight : 0;
        }
        return Math.round(total);
    }

    /** In whole numbers of any size: a rounding error would look like a token. */
    long prefillTokens(int row, long now) {
        List<Entry> prefills = row(row).prefills;
        if (prefills.isEmpty()) {
            return 0;
        }
        long sum = prefills.stream().mapToLong(entry -> entry.prefill.tokens()).sum();
        PrefillHint anchor = prefills.get(0).prefill;
        boolean allModelled = prefills.stream().allMatch(entry -> entry.prefill.expectedNanos() >= 0);
        long elapsed = now - row(row).anchoredAt;
        long done;
        if (anchor.expectedNanos() < 0) {
            done = 0;
        } else if (anchor.expectedNanos() == 0) {
            done = anchor.tokens();
        } else {
            done = BigInteger.valueOf(anchor.tokens())
                    .multiply(BigInteger.valueOf(elapsed))
                    .divide(BigInteger.valueOf(anchor.expectedNanos()))
                    .min(BigInteger.valueOf(Long.MAX_VALUE))
                    .longValue();
        }
        return allModelled ? Math.max(0, sum - done) : sum - Math.min(done, anchor.tokens());
    }

    int requests(int row) {
        return (int) live.values().stream().filter(entry -> entry.row == row).count();
    }

    int depth(int row, List<Long> prompt) {
        int depth = 0;
        while (depth < prompt.size() && row(row).blocks.containsKey(prompt.subList(0, depth + 1))) {
            depth++;
        }
        return depth;
    }
}
