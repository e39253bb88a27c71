package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.hash.TrackingHasher;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.explain.Regret;
import dev.tandemkv.selection.host.LoadSink;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.Replication.UnknownWorkers;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LeaseTimes;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.ledger.PrefillMark;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One model in one routing group: who can be chosen, what is booked, what is cached, who waits.
 *
 * <p>Threads: {@link #mailbox} serialises everything marked "inside the step": rows, ledger, queue, policy and the random generator belong
 * to whoever is inside. The rest is immutable, thread-safe by itself, or published: {@link #membership} is replaced after each change, and
 * may be read by anyone.
 */
public final class Partition {

    private final PartitionKey key;
    private final int blockSize;
    private final boolean eagle;
    private final PromptHashing hashing;
    private final CoreContext core;
    private final Mailbox mailbox;
    private final CacheView cache;
    private final @Nullable SessionAffinity sessions;
    private final Alarm expiry;
    private final Alarm queueClock;
    private volatile Membership membership = Membership.EMPTY;

    // ---- inside the step
    private final Roster roster = new Roster();
    private final BookingLedger ledger;
    private final RandomGenerator random;
    private final Decider decider;
    private final @Nullable WaitingRoom waiting;
    private final @Nullable LoadPublisher publisher;
    private final DrainWaits drains;
    private final RowChanges rows;
    private long slotsEpoch;

    public Partition(
            PartitionKey key,
            int blockSize,
            boolean eagle,
            CoreContext core,
            CacheView cache,
            @Nullable SessionAffinity sessions,
            @Nullable TrackingHasher keyed) {
        this.key = key;
        this.blockSize = blockSize;
        this.eagle = eagle;
        this.core = core;
        this.cache = cache;
        this.sessions = sessions;
        hashing = new PromptHashing(
                core.ticker(), tokensPerBlock(), eagle, core.config().tracking(), keyed, core.random());
        mailbox = new Mailbox(core.afterwards());
        cache.trust().tellThrough(mailbox::afterwardsFromAnywhere);
        random = core.random().split();
        ledger = new BookingLedger(
                new LeaseTimes(
                        core.config().lifetimes().bookingLease().toNanos(),
                        core.config().lifetimes().replicaOrphanTimeout().toNanos()),
                random);
        decider =
                new Decider(this, core.policies().nameFor(key), core.policies().componentsFor(key));
        LoadSink sink = core.host().loadSink();
        publisher = sink == null ? null : new LoadPublisher(this, sink);
        rows = new RowChanges(this, decider.loads(), publisher);
        drains = new DrainWaits(roster, ledger, mailbox);
        queueClock = new Alarm(core.ticker(), core.scheduler(), core.afterwards(), () -> mailbox.submit(this::ring));
        QueueProfile profile = core.config().queueProfile(key.modelName());
        waiting = profile.queues() ? new WaitingRoom(this, decider, profile, queueClock) : null;
        expiry = new Alarm(core.ticker(), core.scheduler(), core.afterwards(), () -> mailbox.submit(this::expire));
    }

    public PartitionKey key() {
        return key;
    }

    /** As registered: unsigned 32-bit. */
    public int blockSize() {
        return blockSize;
    }

    /** The block size to reckon with. No prompt that is told by its tokens fills a block of 2^31 tokens or more, so those are all alike. */
    int tokensPerBlock() {
        return blockSize < 0 ? Integer.MAX_VALUE : blockSize;
    }

    public boolean eagle() {
        return eagle;
    }

    /** Cuts and hashes this partition's prompts. */
    public PromptHashing hashing() {
        return hashing;
    }

    public CoreContext core() {
        return core;
    }

    /** What is known of the workers' caches. */
    public CacheView cache() {
        return cache;
    }

    /** The session table, or {@code null} where sessions do not stick. */
    public @Nullable SessionAffinity sessions() {
        return sessions;
    }

    /** Whether a request may have to wait here. */
    public boolean queues() {
        return waiting != null;
    }

    /** The way into the step. */
    public Mailbox mailbox() {
        return mailbox;
    }

    /** Who waits for a worker's last booking to end; to be touched inside the step. */
    public DrainWaits drains() {
        return drains;
    }

    // ---- published membership

    /** Whether any worker takes new bookings. */
    public boolean isReady() {
        return !membership.isEmpty();
    }

    /** Ids of the workers that take new bookings. */
    public Set<Long> schedulableWorkers() {
        return membership.workerIds();
    }

    /** Whether a worker, or the rank of it, takes new bookings. */
    public boolean isLive(AffinityTarget target) {
        return membership.has(target);
    }

    /** The metadata of a worker that takes new bookings, or {@code null}. */
    public @Nullable WorkerSpec schedulable(long workerId) {
        return membership.schedulable().get(workerId);
    }

    /** Whether a booking may come with a hint where to fetch what its rank lacks. */
    public boolean offersHints() {
        return membership.anyHintSource() && cache.namesBlocks();
    }

    // ---- membership, from whoever holds the catalog lock

    /**
     * Applies changes in one step: nothing is chosen between them. What leaves drops its bookings.
     *
     * @return the ranks that left
     */
    public List<WorkerRank> change(MembershipChange change) {
        return mailbox.call(() -> {
            List<WorkerRank> left = rows.apply(change, core.ticker().read());
            membership = Membership.of(roster);
            drains.look();
            drain();
            return left;
        });
    }

    // ---- inside the step

    Roster roster() {
        return roster;
    }

    BookingLedger ledger() {
        return ledger;
    }

    /** Whether peers' bookings may take ids that are on their way here. */
    boolean replicated() {
        return core.host().replication() != null;
    }

    RandomGenerator random() {
        return random;
    }

    /** All ranks with an attempt's figures, whoever is eligible. */
    CandidateTable allRanks(Attempt attempt) {
        return decider.allRanks(attempt, core.ticker().read());
    }

    /** Prefill and decode load of a row, in blocks. */
    double bookedBlocks(int row, long now) {
        LoadView loads = decider.loads();
        loads.read(row, now);
        return (double) loads.prefillTokens() / blockSize + loads.decodeBlocks();
    }

    /** The ranks that take new bookings, by unsigned worker id and rank. */
    List<WorkerRank> schedulableRanks() {
        return Arrays.stream(roster.order())
                .filter(row -> !roster.draining(row))
                .mapToObj(roster::rank)
                .toList();
    }

    /** What each eligible rank would cost; empty if the policy does not score. */
    Optional<List<Decider.Cost>> score(Attempt attempt) {
        return Optional.ofNullable(decider.score(attempt, core.ticker().read()));
    }

    /** Asks the index again if slots have passed to other ranks since the attempt did. */
    void refreshIfStale(Attempt attempt) {
        OverlapScores scores = attempt.scores();
        long epoch = cache.slotsEpoch();
        if (scores != null && scores.slotsEpoch() != epoch) {
            cache.lookUpHere(attempt);
        }
        resolveSlots(epoch);
    }

    /** The rows' loads together with what waits. */
    PartitionLoads pending(List<RankLoad> loads) {
        Pending queued =
                waiting == null ? new Pending(0, 0, 0) : waiting.queue().pending();
        List<PartitionLoads.ClassLoad> classes =
                waiting == null ? List.of() : waiting.queue().loads();
        return new PartitionLoads(key, loads, queued.requests(), queued.islTokens(), queued.cachedTokens(), classes);
    }

    /** Makes the rows' slots those of an epoch of the index. */
    private void resolveSlots(long epoch) {
        if (slotsEpoch != epoch) {
            for (int row : roster.order()) {
                roster.slot(row, cache.slotOf(roster.rank(row)));
            }
            slotsEpoch = epoch;
        }
    }

    /**
     * Takes an attempt as far as it comes.
     *
     * @return whether it is decided; else it waits
     */
    public boolean admit(Attempt attempt) {
        long now = core.ticker().read();
        if (waiting != null && attempt.purpose() != Attempt.Purpose.ADVISORY) {
            return waiting.admit(attempt, now);
        }
        decider.decide(attempt, now);
        return true;
    }

    /** Nothing must come of an attempt any more; false if it does not wait in the queue. */
    public boolean withdraw(Attempt attempt) {
        attempt.withdraw();
        return waiting != null && waiting.withdraw(attempt);
    }

    /**
     * Books on a rank without choosing. A booking that a peer made already is booked on a draining one, too.
     *
     * @throws NotFoundException if it takes no new bookings
     */
    public LedgerEntry bookOn(WorkerRank rank, BookingTerms terms, long[] trackingHashes) {
        int row = roster.rowOf(rank);
        boolean mirrored = terms.ownership() == Ownership.REPLICA;
        if (row < 0 && mirrored && lendsRows()) {
            row = roster.lend(rank);
        }
        if (row < 0 || (roster.draining(row) && !mirrored)) {
            throw new NotFoundException("worker", rank.toString());
        }
        LedgerEntry entry = ledger.add(row, terms, trackingHashes, core.ticker().read());
        booked(entry);
        return entry;
    }

    /**
     * Whether a booking of a peer is counted on a rank: one that is known here, a draining one included, and is the process that the peer
     * booked on; or, if the host wants it so, any.
     *
     * @param incarnation the process, or {@code null} if unknown
     */
    public boolean mirrors(WorkerRank rank, @Nullable String incarnation) {
        int row = roster.rowOf(rank);
        if (row < 0) {
            return lendsRows();
        }
        String registered = roster.spec(row).incarnation();
        return incarnation == null || registered == null || registered.equals(incarnation);
    }

    private boolean lendsRows() {
        Replication replication = core.host().replication();
        return replication != null && replication.unknownWorkers() == UnknownWorkers.LAZY_REGISTER;
    }

    /** The live booking under a selection id, or {@code null}. */
    public @Nullable LedgerEntry bookingUnder(String selectionId) {
        return ledger.find(selectionId);
    }

    /** Some of the live bookings. */
    public List<LedgerEntry> bookings(Predicate<LedgerEntry> which) {
        return ledger.bookings(which);
    }

    /** The blocks of a live booking. */
    public long[] hashesOf(LedgerEntry entry) {
        return ledger.hashesOf(entry);
    }

    /** Releases a booking; false if it was over. */
    public boolean free(LedgerEntry entry) {
        boolean freed = release(entry);
        if (freed) {
            released();
        }
        return freed;
    }

    /** As {@link #free}, for one of several after which the caller tells that they are {@link #released}. */
    public boolean release(LedgerEntry entry) {
        boolean freed = ledger.free(entry, core.ticker().read());
        if (freed) {
            gone(entry);
        }
        return freed;
    }

    private void gone(LedgerEntry entry) {
        changed(entry);
        if (ledger.activeRequests(entry.row()) == 0) {
            roster.giveBack(entry.id().worker());
        }
    }

    public PrefillMark markPrefill(LedgerEntry entry) {
        PrefillMark mark = ledger.markPrefill(entry, core.ticker().read());
        if (mark == PrefillMark.MARKED) {
            changed(entry);
            released();
        }
        return mark;
    }

    /** As {@link #markPrefill}, for one of several after which the caller tells that they are {@link #released}. */
    public boolean endPrefill(LedgerEntry entry) {
        boolean marked = ledger.markPrefill(entry, core.ticker().read()) == PrefillMark.MARKED;
        if (marked) {
            changed(entry);
        }
        return marked;
    }

    public boolean chargePrefill(LedgerEntry entry, PrefillHint prefill) {
        boolean charged = ledger.chargePrefill(entry, prefill, core.ticker().read());
        if (charged) {
            changed(entry);
        }
        return charged;
    }

    /** @param remainingFraction what this booking holds alone counts so much, or {@code null} to leave it */
    public boolean addOutputBlocks(LedgerEntry entry, int blocks, @Nullable Double remainingFraction) {
        long now = core.ticker().read();
        boolean added = remainingFraction == null
                ? ledger.addOutputBlocks(entry, blocks, now)
                : ledger.addOutputBlocks(entry, blocks, remainingFraction, now);
        if (added && publisher != null) {
            publisher.outputs(entry.id().worker());
        }
        return added;
    }

    public boolean touch(LedgerEntry entry) {
        return ledger.touch(entry, core.ticker().read());
    }

    /** The booking has no handle any more; from now on its lease ends it. */
    public boolean orphan(LedgerEntry entry) {
        boolean live = ledger.handOver(entry, Ownership.EXTERNAL, core.ticker().read());
        armExpiry();
        return live;
    }

    /** What the choices gave up, so far. */
    public Regret.Snapshot regret() {
        return decider.regret().snapshot();
    }

    /** Number of live bookings. */
    public int bookings() {
        return ledger.size();
    }

    /** Keeps the end of a booking, which its owner did not cause, to be told outside. */
    void ended(LedgerEntry entry, EndReason reason) {
        mailbox.afterwards(() -> core.endings().ended(entry, reason));
    }

    /** A booking was made: its end by time is seen to, and its load told. */
    void booked(LedgerEntry entry) {
        armExpiry();
        changed(entry);
    }

    private void changed(LedgerEntry entry) {
        if (publisher != null) {
            publisher.changed(entry.id().worker());
        }
    }

    /** Looks at what a release, of whatever cause, makes possible. */
    public void released() {
        drains.look();
        drain();
    }

    /** Looks at who waits: something has changed that may let them go. */
    public void drain() {
        if (waiting != null) {
            waiting.drain(core.ticker().read());
        }
    }

    private void ring() {
        if (waiting != null) {
            waiting.ring();
        }
    }

    private void expire() {
        List<LedgerEntry> expired = ledger.expire(core.ticker().read());
        expired.forEach(entry -> {
            gone(entry);
            ended(entry, EndReason.EXPIRED);
        });
        if (!expired.isEmpty()) {
            released();
        }
        armExpiry();
    }

    /** Sees to it that bookings without a handle end by time. */
    private void armExpiry() {
        long next = ledger.nextExpiry();
        if (next != Long.MAX_VALUE) {
            mailbox.afterwards(() -> expiry.at(next));
        }
    }

    /** Stops the clockwork; what is booked stays booked. */
    public void close() {
        expiry.close();
        queueClock.close();
        cache.close();
        if (sessions != null) {
            sessions.close();
        }
    }
}
