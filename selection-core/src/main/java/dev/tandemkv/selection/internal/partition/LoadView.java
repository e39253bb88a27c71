package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.host.ReportedLoad;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The load of one row at one instant: what is booked, or, where the worker reports its own load, its last report and what was booked since.
 *
 * <p>Confined to the partition step. {@link #read} sets the three figures; recent bookings are remembered only where the host has reports,
 * oldest first, and forgotten as soon as a report covers them.
 */
final class LoadView {

    private static final Logger LOG = LoggerFactory.getLogger(LoadView.class);

    private record Recent(LedgerEntry entry, long tokens, long blocks) {}

    private final Roster roster;
    private final BookingLedger ledger;
    private final @Nullable ReportedLoad reports;
    private final List<ArrayDeque<Recent>> recent = new ArrayList<>();

    private long prefillTokens;
    private long decodeBlocks;
    private int requests;

    LoadView(Roster roster, BookingLedger ledger, @Nullable ReportedLoad reports) {
        this.roster = roster;
        this.ledger = ledger;
        this.reports = reports;
    }

    /** Whether workers may report load of their own. */
    boolean isReported() {
        return reports != null;
    }

    void read(int row, long now) {
        ReportedLoad.Report report = reports == null ? null : lastReport(reports, roster.rank(row));
        if (report == null) {
            prefillTokens = ledger.activePrefillTokens(row, now);
            decodeBlocks = ledger.activeDecodeBlocks(row);
            requests = ledger.activeRequests(row);
            return;
        }
        prefillTokens = report.activePrefillTokens();
        decodeBlocks = report.activeDecodeBlocks();
        requests = report.activeRequests();
        for (Recent since : since(row, report.atTick())) {
            prefillTokens = sum(prefillTokens, since.entry.prefilling() ? since.tokens : 0);
            decodeBlocks = sum(decodeBlocks, since.blocks);
            requests = (int) Math.min(Integer.MAX_VALUE, requests + 1L);
        }
    }

    /** A port that fails has no report: the load is what is booked here. */
    private static ReportedLoad.@Nullable Report lastReport(ReportedLoad reports, WorkerRank rank) {
        try {
            return reports.lastReport(rank);
        } catch (RuntimeException e) {
            LOG.warn("no report of {}", rank, e);
            return null;
        }
    }

    /** Of two figures that are not negative; it stops at the end of the range. */
    static long sum(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private ArrayDeque<Recent> since(int row, long tick) {
        ArrayDeque<Recent> bookings = recentOn(row);
        bookings.removeIf(r -> !r.entry.live() || r.entry.startedAt() - tick <= 0);
        return bookings;
    }

    private ArrayDeque<Recent> recentOn(int row) {
        while (recent.size() <= row) {
            recent.add(new ArrayDeque<>());
        }
        return recent.get(row);
    }

    /** Remembers a booking that no report covers yet. */
    void booked(LedgerEntry entry, long tokens, long blocks) {
        if (reports != null) {
            ArrayDeque<Recent> bookings = recentOn(entry.row());
            bookings.removeIf(r -> !r.entry.live());
            bookings.add(new Recent(entry, tokens, blocks));
        }
    }

    /** The row passes to another rank. */
    void forget(int row) {
        if (row < recent.size()) {
            recent.get(row).clear();
        }
    }

    long prefillTokens() {
        return prefillTokens;
    }

    long decodeBlocks() {
        return decodeBlocks;
    }

    int requests() {
        return requests;
    }
}
