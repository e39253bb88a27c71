package dev.tandemkv.selection.internal.choice;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LeaseTimes;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A table that reads only what has changed shows the load that the ledger tells row by row. */
class CandidateTableFollowsPropertyTest {

    private static final int ROWS = 6;
    private static final int STEPS = 120;

    private final List<LedgerEntry> live = new ArrayList<>();
    private final int[] depths = new int[ROWS];
    private long now;
    private long ids;

    @Property(tries = 200)
    void setLoads_afterAnyHistory_areThoseOfTheLedger(
            @ForAll long seed, @ForAll @IntRange(min = 0, max = 2) int modelled) {
        live.clear();
        SeededRandom random = new SeededRandom(seed);
        BookingLedger ledger = new BookingLedger(new LeaseTimes(1_000, 1_000), random);
        ledger.reserveRows(ROWS);
        CandidateTable table = new CandidateTable(0.75, 0.25);
        list(table, random.nextInt());
        for (int step = 0; step < STEPS; step++) {
            now += random.nextInt(40);
            change(ledger, random, modelled);
            if (random.nextInt(3) == 0) {
                check(table, ledger, random);
            }
            if (random.nextInt(20) == 0) {
                list(table, random.nextInt());
            }
        }
        check(table, ledger, random);
    }

    /** The rows in an order of its own, now and then without the last. */
    private static void list(CandidateTable table, int order) {
        table.reset(64, 16);
        int count = order % 4 == 0 ? ROWS - 1 : ROWS;
        for (int i = 0; i < count; i++) {
            int row = Math.floorMod(i + order, count);
            table.add(i, 0, row, 0);
        }
    }

    private void change(BookingLedger ledger, SeededRandom random, int modelled) {
        LedgerEntry some = live.isEmpty() ? null : live.get(random.nextInt(live.size()));
        switch (random.nextInt(some == null ? 1 : 5)) {
            case 1 -> ledger.markPrefill(some, now);
            case 2 -> ledger.addOutputBlocks(some, 1 + random.nextInt(3), random.nextDouble(), now);
            case 3 -> ledger.chargePrefill(some, hint(random, modelled), now);
            case 4 -> {
                ledger.free(some, now);
                live.remove(some);
            }
            default -> live.add(book(ledger, random, modelled));
        }
    }

    private LedgerEntry book(BookingLedger ledger, SeededRandom random, int modelled) {
        int row = random.nextInt(ROWS);
        long id = ids++;
        BookingTerms terms = new BookingTerms(
                new BookingId("r" + id, WorkerRank.of(row), id), hint(random, modelled), null, null, Ownership.HANDLE);
        return ledger.add(row, terms, random.longs(random.nextInt(4), 0, 3).toArray(), now);
    }

    private static PrefillHint hint(SeededRandom random, int modelled) {
        long tokens = random.nextInt(100);
        return random.nextInt(3) < modelled
                ? new PrefillHint(tokens, random.nextInt(200))
                : PrefillHint.unmodelled(tokens);
    }

    private void check(CandidateTable table, BookingLedger ledger, SeededRandom random) {
        if (!table.restart(64, 16)) {
            throw new AssertionError("nothing was dropped");
        }
        long[] prompt = random.longs(4, 0, 3).toArray();
        int deepest = ledger.project(prompt, prompt.length, depths);
        table.setLoads(ledger, prompt.length, depths, deepest, now);
        for (int i = 0; i < table.size(); i++) {
            int row = table.ledgerRow(i);
            assertThat(table.positionOf(row)).isEqualTo(i);
            assertThat(table.activePrefillTokens(i)).isEqualTo(ledger.activePrefillTokens(row, now));
            assertThat(table.activeDecodeBlocks(i)).isEqualTo(ledger.activeDecodeBlocks(row));
            assertThat(table.activeRequests(i)).isEqualTo(ledger.activeRequests(row));
            assertThat(table.potentialDecodeBlocks(i))
                    .isEqualTo(ledger.activeDecodeBlocks(row) + prompt.length - depths[row]);
        }
    }
}
