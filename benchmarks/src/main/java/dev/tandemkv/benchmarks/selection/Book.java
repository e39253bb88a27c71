package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LeaseTimes;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.util.ArrayDeque;

/**
 * W-BOOK: the ledger alone over the conversation trace, 16 workers in turn, 64-token blocks: per request a projection over all workers, the
 * booking, its prefill mark and, 256 requests later, its release.
 */
public final class Book implements Workload {

    private static final int WORKERS = 16;
    private static final int LIVE = 256;

    private final Trace trace;

    public Book(Trace conversation) {
        trace = conversation;
    }

    @Override
    public void measure(Run run, int repetitions) {
        for (int r = -2; r < repetitions; r++) {
            book(r < 0 ? new Run().cell("book", "") : run.cell("book", "W=" + WORKERS));
        }
    }

    private void book(Run.Cell cell) {
        BookingLedger ledger = new BookingLedger(new LeaseTimes(Long.MAX_VALUE, Long.MAX_VALUE), new SeededRandom(42));
        Samples project = new Samples();
        Samples add = new Samples();
        Samples mark = new Samples();
        Samples free = new Samples();
        ArrayDeque<LedgerEntry> live = new ArrayDeque<>();
        int[] depths = new int[WORKERS];
        long now = 0;
        for (TraceRequest request : trace.requests()) {
            long[] hashes = hashes(request);
            int row = (int) (now % WORKERS);
            BookingTerms terms = new BookingTerms(
                    new BookingId("r" + now, WorkerRank.of(row), now),
                    new PrefillHint(request.inputTokens(), PrefillHint.UNMODELLED),
                    null,
                    null,
                    Ownership.HANDLE);
            long t0 = System.nanoTime();
            ledger.project(hashes, hashes.length, depths);
            long t1 = System.nanoTime();
            LedgerEntry entry = ledger.add(row, terms, hashes, now);
            long t2 = System.nanoTime();
            ledger.markPrefill(entry, now);
            long t3 = System.nanoTime();
            live.add(entry);
            project.add(t1 - t0);
            add.event(t2 - t1, hashes.length);
            mark.add(t3 - t2);
            if (live.size() > LIVE) {
                LedgerEntry oldest = live.remove();
                long t4 = System.nanoTime();
                ledger.free(oldest, now);
                free.add(System.nanoTime() - t4);
            }
            now++;
        }
        cell.add("project", project);
        cell.add("add", add);
        cell.add("prefill_complete", mark);
        cell.add("free", free);
    }

    private static long[] hashes(TraceRequest request) {
        long[] ids = request.blockIds();
        int blocks = (int) Math.min(request.inputTokens() / PeerHashes.BLOCK_TOKENS, (long) ids.length * PeerHashes.F);
        long[] locals = new long[blocks];
        for (int b = 0; b < blocks; b++) {
            locals[b] = PeerHashes.traceBlock(ids[b / PeerHashes.F], b % PeerHashes.F);
        }
        return PeerHashes.chain(locals);
    }
}
