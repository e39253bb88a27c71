package dev.tandemkv.selection.internal.ledger;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.selection.BookingId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The bookings of one partition, and the load that follows from them.
 *
 * <p><b>Threads.</b> Single-threaded: every method, the reading ones included, is called inside the partition step only.
 *
 * <p><b>Rows.</b> The partition gives each (worker, rank) a small dense number, its row, and may give it to another rank after {@link
 * #removeRow}. Everything kept per rank is an array indexed by row, so that the selection loop reads load without hashing.
 *
 * <p><b>Parts.</b> {@link SharedPrefixTree} knows the prompt blocks, shared prefixes once; {@link PrefillLoads} the prefill load and its
 * decay; {@link LeaseQueue} who expires next; {@link LedgerEntry} is a booking. This class keeps what spans them: one booking per
 * selection id, all or nothing per operation, the published figures per row.
 *
 * <p><b>Fencing.</b> An operation takes an entry, and an entry is one booking instance for ever: once it is over, operations do nothing
 * and say so. {@link #find} turns an exact {@link BookingId} into its entry.
 *
 * <p>{@link #checkInvariants} recomputes everything from the entries.
 */
public final class BookingLedger {

    /** More output blocks than this count as this many; keeps fixed-point sums far from overflow. */
    public static final long MAX_OUTPUT_BLOCKS = 1 << 20;

    private static final Comparator<LedgerEntry> BOOKING_ORDER = Comparator.comparingLong(LedgerEntry::startedAt)
            .thenComparing(entry -> entry.id().attemptId(), Long::compareUnsigned);

    private final Map<String, LedgerEntry> entries = new HashMap<>();
    private final Map<String, LoraCount> loraCounts = new HashMap<>();
    private final SharedPrefixTree prompts;
    private final PrefillLoads prefills = new PrefillLoads();
    private final ChangedRows changed = new ChangedRows();
    private final LeaseQueue external;
    private final LeaseQueue replicas;

    private int rows;
    private long[] outputWeight = new long[8];
    // What selections read is kept as doubles, as they need it: converting it for every row of every decision costs
    // more than the choice.
    private double[] decodeBlocks = new double[8];
    private double[] requests = new double[8];

    /**
     * @param leases lifetimes of bookings without a handle
     * @param random gives the secret with which client-chosen hashes are spread
     */
    public BookingLedger(LeaseTimes leases, RandomGenerator random) {
        external = new LeaseQueue(leases.externalNanos());
        replicas = new LeaseQueue(leases.replicaNanos());
        prompts = new SharedPrefixTree(random.nextLong());
    }

    // ---- bookings

    /**
     * Books a request on a row.
     *
     * @param row any row from 0 on; a row never used before is empty
     * @param trackingHashes cumulative hash of each block to book; copied as far as needed; empty if blocks are not tracked
     * @throws ConflictException if a booking under the same selection id is live; that one stays as it is
     */
    public LedgerEntry add(int row, BookingTerms terms, long[] trackingHashes, long now) {
        LedgerEntry entry = new LedgerEntry(terms, row, now);
        LedgerEntry existing = entries.putIfAbsent(terms.id().selectionId(), entry);
        if (existing != null) {
            throw new ConflictException(
                    "selection id",
                    terms.id().selectionId(),
                    "already booked on worker " + existing.id().worker());
        }
        ensureRow(row);
        entry.terminal = prompts.add(row, trackingHashes, trackingHashes.length);
        if (terms.prefill().tokens() > 0) {
            prefills.add(entry, now);
        }
        LeaseQueue leases = leasesOf(entry);
        if (leases != null) {
            leases.add(entry, now);
        }
        if (terms.loraName() != null) {
            loraCounts.computeIfAbsent(terms.loraName(), name -> new LoraCount()).bookings++;
        }
        requests[row]++;
        publish(row);
        return entry;
    }

    /** The live booking that is exactly this instance, or {@code null}. */
    public @Nullable LedgerEntry find(BookingId id) {
        LedgerEntry entry = entries.get(id.selectionId());
        return entry != null && entry.id().equals(id) ? entry : null;
    }

    /** The live booking under a selection id, whichever instance, or {@code null}. */
    public @Nullable LedgerEntry find(String selectionId) {
        return entries.get(selectionId);
    }

    /** The hashes that a live booking was made with. */
    public long[] hashesOf(LedgerEntry entry) {
        return entry.terminal == null ? new long[0] : prompts.hashesOf(entry.terminal);
    }

    /** Ends the prefill load of a booking; a sign of progress, a repeated one too. */
    public PrefillMark markPrefill(LedgerEntry entry, long now) {
        if (!touch(entry, now)) {
            return PrefillMark.GONE;
        }
        if (!entry.prefilling) {
            return PrefillMark.NO_CHANGE;
        }
        prefills.remove(entry, now);
        changed.add(entry.row);
        return PrefillMark.MARKED;
    }

    /**
     * Charges prefill load to a booking that carries none, as the newest prefill of its row.
     *
     * @return false, and nothing changes, if the booking is over, carries prefill load or the hint has no tokens
     */
    public boolean chargePrefill(LedgerEntry entry, PrefillHint hint, long now) {
        if (!entry.live || entry.prefilling || hint.tokens() == 0) {
            return false;
        }
        entry.prefill = hint;
        prefills.add(entry, now);
        changed.add(entry.row);
        return true;
    }

    /**
     * Counts output blocks; a sign of progress.
     *
     * @param blocks at least 1
     * @return false if the booking is over
     */
    public boolean addOutputBlocks(LedgerEntry entry, int blocks, long now) {
        if (blocks < 1) {
            throw new BadRequestException("blocks", blocks, ">= 1");
        }
        if (!touch(entry, now)) {
            return false;
        }
        long added = Math.min(blocks, MAX_OUTPUT_BLOCKS - entry.outputBlocks);
        entry.outputBlocks += added;
        weighOutput(entry, entry.outputWeight + added * SharedPrefixTree.ONE);
        publish(entry.row);
        return true;
    }

    /**
     * Counts output blocks and then sets the weight of what this booking holds alone on its row: all its output blocks and the end of
     * its prompt that no other booking shares. A later second owner of those prompt blocks keeps the weight.
     *
     * @param fraction see {@link #requireFraction}
     * @return false if the booking is over
     */
    public boolean addOutputBlocks(LedgerEntry entry, int blocks, double fraction, long now) {
        requireFraction(fraction);
        if (!addOutputBlocks(entry, blocks, now)) {
            return false;
        }
        long weight = SharedPrefixTree.weightOf(fraction);
        weighOutput(entry, entry.outputBlocks * weight);
        if (entry.terminal != null) {
            prompts.weighExclusive(entry.row, entry.terminal, weight);
        }
        publish(entry.row);
        return true;
    }

    /** @throws BadRequestException if the value is not within 0..1 */
    public static void requireFraction(double fraction) {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw new BadRequestException("decay_fraction", fraction, "0..1");
        }
    }

    /** A sign of progress that changes nothing else; false if the booking is over. */
    public boolean touch(LedgerEntry entry, long now) {
        if (!entry.live) {
            return false;
        }
        LeaseQueue leases = leasesOf(entry);
        if (leases != null) {
            leases.remove(entry);
            leases.add(entry, now);
        }
        return true;
    }

    /** Changes who answers for a booking, from now on; false if the booking is over. */
    public boolean handOver(LedgerEntry entry, Ownership ownership, long now) {
        Objects.requireNonNull(ownership, "ownership");
        if (!entry.live) {
            return false;
        }
        LeaseQueue before = leasesOf(entry);
        if (before != null) {
            before.remove(entry);
        }
        entry.ownership = ownership;
        LeaseQueue after = leasesOf(entry);
        if (after != null) {
            after.add(entry, now);
        }
        return true;
    }

    /** Releases a booking and all its load; false, and nothing changes, if it is over already. */
    public boolean free(LedgerEntry entry, long now) {
        if (!entry.live) {
            return false;
        }
        entry.live = false;
        entries.remove(entry.id().selectionId());
        int row = entry.row;
        if (entry.terminal != null) {
            prompts.remove(row, entry.terminal);
            entry.terminal = null;
        }
        if (entry.prefilling) {
            prefills.remove(entry, now);
        }
        LeaseQueue leases = leasesOf(entry);
        if (leases != null) {
            leases.remove(entry);
        }
        if (entry.terms.loraName() != null) {
            uncountLora(entry.terms.loraName());
        }
        weighOutput(entry, 0);
        requests[row]--;
        publish(row);
        return true;
    }

    // ---- rows and expiry

    /**
     * Releases everything on a row, whose rank is gone. The row is empty afterwards.
     *
     * @return the bookings dropped, in order of booking
     */
    public List<LedgerEntry> removeRow(int row, long now) {
        List<LedgerEntry> dropped = bookings(row);
        dropped.forEach(entry -> free(entry, now));
        return dropped;
    }

    /** The first instant at which {@link #expire} has something to do, or {@link Long#MAX_VALUE}. */
    public long nextExpiry() {
        return Math.min(external.nextExpiry(), replicas.nextExpiry());
    }

    /**
     * Releases every booking without a handle whose last progress is longer ago than its lifetime.
     *
     * @return those bookings; those owned by id first, each kind in order of expiry
     */
    public List<LedgerEntry> expire(long now) {
        if (now < nextExpiry()) {
            return List.of();
        }
        List<LedgerEntry> expired = new ArrayList<>();
        expire(external, now, expired);
        expire(replicas, now, expired);
        return expired;
    }

    private void expire(LeaseQueue leases, long now, List<LedgerEntry> into) {
        for (LedgerEntry next = leases.expired(now); next != null; next = leases.expired(now)) {
            free(next, now);
            into.add(next);
        }
    }

    // ---- reading

    /**
     * Depth, in blocks, of the longest prefix of a prompt that is active on each row; a request books that many blocks less there.
     * Allocates nothing and costs O(blocks + rows that hold any of them).
     *
     * @param depthByRow receives the depth of every row below {@link #rows()}
     * @return the greatest of them; 0 if no row has any of the prompt
     */
    public int project(long[] trackingHashes, int length, int[] depthByRow) {
        return prompts.project(trackingHashes, length, depthByRow, rows);
    }

    /** One more than the highest row that was ever used. */
    public int rows() {
        return rows;
    }

    /** Booked blocks of a row, prompt and output, rounded half up. */
    public long activeDecodeBlocks(int row) {
        return row < rows ? (long) decodeBlocks[row] : 0;
    }

    /** Booked prefill tokens of a row, decayed up to now. */
    public long activePrefillTokens(int row, long now) {
        return row < rows ? prefills.tokens(row, now) : 0;
    }

    /** Live bookings of a row. */
    public int activeRequests(int row) {
        return row < rows ? (int) requests[row] : 0;
    }

    /**
     * Loads of many rows at one instant. There is one reader, which keeps what it read: it reads every row once, then asks {@link
     * #changedRows} which to read again, and says so by {@link #caughtUp}.
     *
     * @param selected rows, each below {@link #rows()}
     * @param count how many of them
     * @param blocks receives {@link #activeDecodeBlocks} of each
     * @param bookings receives {@link #activeRequests} of each
     */
    public void readLoads(int[] selected, int count, double[] blocks, double[] bookings) {
        for (int i = 0; i < count; i++) {
            blocks[i] = decodeBlocks[selected[i]];
        }
        for (int i = 0; i < count; i++) {
            bookings[i] = requests[selected[i]];
        }
    }

    /** As {@link #readLoads}, of {@link #activePrefillTokens}. */
    public void readPrefillTokens(int[] selected, int count, long now, double[] tokens) {
        prefills.readTokens(selected, count, now, tokens);
    }

    /** Whether prefill loads go down by time alone, so that they have to be read again though nothing {@linkplain #changedRows changed}. */
    public boolean decays() {
        return prefills.decays();
    }

    /** How many rows have changed since the reader last caught up. */
    public int changedRows() {
        return changed.count();
    }

    /** One of the {@link #changedRows}. */
    public int changedRow(int index) {
        return changed.at(index);
    }

    /** The reader has read every row that has changed, or will read all of them before it reads changed ones. */
    public void caughtUp() {
        changed.clear();
    }

    /** Makes sure that rows below a number exist, empty if nothing is booked on them. */
    public void reserveRows(int count) {
        if (count > rows) {
            ensureRow(count - 1);
        }
    }

    public RankLoad load(int row, long now) {
        return new RankLoad(activePrefillTokens(row, now), activeDecodeBlocks(row), activeRequests(row));
    }

    /** How long a row's prefills should still take, or empty if one of them has no estimate. */
    public OptionalLong remainingPrefillNanos(int row, long now) {
        return row < rows ? prefills.remainingNanos(row, now) : OptionalLong.of(0);
    }

    /** Number of live bookings. */
    public int size() {
        return entries.size();
    }

    /** Runs of blocks kept for all bookings together; a measure of memory. */
    public int nodes() {
        return prompts.nodes();
    }

    /** Live bookings of a row in order of booking; a walk over all bookings. */
    public List<LedgerEntry> bookings(int row) {
        return entries.values().stream()
                .filter(entry -> entry.row == row)
                .sorted(BOOKING_ORDER)
                .toList();
    }

    /** Some of the live bookings of every row, in order of booking. */
    public List<LedgerEntry> bookings(Predicate<LedgerEntry> which) {
        return entries.values().stream().filter(which).sorted(BOOKING_ORDER).toList();
    }

    /** Live bookings by adapter, without those that have none. */
    public Map<String, Integer> loraCounts() {
        Map<String, Integer> counts = new HashMap<>();
        loraCounts.forEach((name, count) -> counts.put(name, count.bookings));
        return Map.copyOf(counts);
    }

    // ---- inside

    private void ensureRow(int row) {
        if (row < rows) {
            return;
        }
        rows = row + 1;
        prompts.ensureRows(rows);
        prefills.ensureRows(rows);
        changed.ensureRows(rows);
        if (rows > requests.length) {
            int capacity = Math.max(rows, requests.length * 2);
            outputWeight = Arrays.copyOf(outputWeight, capacity);
            decodeBlocks = Arrays.copyOf(decodeBlocks, capacity);
            requests = Arrays.copyOf(requests, capacity);
        }
    }

    private @Nullable LeaseQueue leasesOf(LedgerEntry entry) {
        return switch (entry.ownership) {
            case HANDLE -> null;
            case EXTERNAL -> external;
            case REPLICA -> replicas;
        };
    }

    private void weighOutput(LedgerEntry entry, long weight) {
        outputWeight[entry.row] += weight - entry.outputWeight;
        entry.outputWeight = weight;
    }

    private void publish(int row) {
        long weight = prompts.weight(row) + outputWeight[row];
        long rounded = (weight + SharedPrefixTree.ONE / 2) / SharedPrefixTree.ONE;
        decodeBlocks[row] = (double) rounded;
        changed.add(row);
    }

    private void uncountLora(String name) {
        LoraCount count = loraCounts.get(name);
        if (count != null && --count.bookings == 0) {
            loraCounts.remove(name);
        }
    }

    private static final class LoraCount {
        private int bookings;
    }

    /** Recomputes every sum from the live entries. */
    void checkInvariants() {
        prompts.checkInvariants();
        prefills.checkInvariants();
        long[] outputs = new long[outputWeight.length];
        double[] counts = new double[requests.length];
        Map<String, Integer> loras = new HashMap<>();
        entries.forEach((id, entry) -> {
            require(entry.live && entry.id().selectionId().equals(id), "entry under " + id);
            outputs[entry.row] += entry.outputWeight;
            counts[entry.row]++;
            if (entry.terms.loraName() != null) {
                loras.merge(entry.terms.loraName(), 1, Integer::sum);
            }
        });
        require(Arrays.equals(outputs, outputWeight), "output weights");
        require(Arrays.equals(counts, requests), "request counts");
        require(loras.equals(loraCounts()), "adapter counts");
        require(!entries.isEmpty() || prompts.nodes() == 0, "blocks without a booking");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("ledger: " + what);
        }
    }
}
