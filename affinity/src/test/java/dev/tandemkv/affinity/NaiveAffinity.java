package dev.tandemkv.affinity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The transition table of a session table, written down once more as slowly and plainly as possible: one mutable row for each session, no
 * concurrency, no versions objects, time in steps. The property test compares the real table with it.
 */
final class NaiveAffinity {

    static final long STEP = 500_000_000L;

    final Map<String, Row> rows = new HashMap<>();
    final LinkedHashMap<String, long[]> tombstones = new LinkedHashMap<>();
    final AffinityConfig config;
    long now;
    private long nextRevision = 1;
    private long nextSequence;

    static final class Row {
        long revision;
        long since;
        List<Request> waiters = new ArrayList<>();
        AffinityTarget target;
        long sequence;
        long writer;
        int leases;
        boolean reserved;
        long deadline;

        boolean bound() {
            return target != null;
        }
    }

    /** One request: a waiter, then a hold, then a lease. */
    static final class Request {
        final String session;
        final AffinityTarget explicit;
        String state = "waiting";
        long revision;
        AffinityTarget target;
        long sequence;
        long writer;
        AffinityTarget moveTo;

        Request(String session, AffinityTarget explicit) {
            this.session = session;
            this.explicit = explicit;
        }
    }

    NaiveAffinity(AffinityConfig config, long firstSequence) {
        this.config = config;
        this.nextSequence = firstSequence;
    }

    private boolean hard() {
        return config.mode() == AffinityMode.HARD;
    }

    private boolean expired(Row row) {
        return row.bound() && row.leases == 0 && row.deadline <= now;
    }

    private boolean overdue(Row row) {
        return !row.bound() && now - row.since >= config.maxInitializing().toNanos();
    }

    /** Answers a request whose state says what became of it: hold, waiting, refused, full, crowded. */
    Request acquire(String session, AffinityTarget explicit) {
        Request request = new Request(session, explicit);
        Row row = rows.get(session);
        if (row == null && rows.size() >= config.maxEntries()) {
            rows.values().removeIf(this::expired);
            if (rows.size() >= config.maxEntries()) {
                request.state = "full";
                return request;
            }
        }
        if (row == null || expired(row)) {
            initialize(request);
        } else if (!row.bound()) {
            if (overdue(row)) {
                handOff(session, row);
                row = rows.get(session);
            }
            if (row == null) {
                initialize(request);
            } else if (row.waiters.size() >= config.maxWaitersPerSession()) {
                request.state = "crowded";
            } else {
                row.waiters.add(request);
            }
        } else if (!row.target.admitsRequest(explicit)) {
            request.state = "refused";
        } else {
            use(request, row);
        }
        return request;
    }

    private void initialize(Request request) {
        Row row = new Row();
        row.revision = nextRevision++;
        row.since = now;
        rows.put(request.session, row);
        request.state = "hold";
        request.revision = row.revision;
    }

    private void use(Request request, Row row) {
        row.leases++;
        request.state = "hold";
        adopt(request, row);
    }

    private void adopt(Request request, Row row) {
        request.revision = row.revision;
        request.target = row.target;
        request.sequence = row.sequence;
        request.writer = row.writer;
    }

    private void handOff(String session, Row row) {
        if (row.waiters.isEmpty()) {
            rows.remove(session);
            return;
        }
        Request first = row.waiters.remove(0);
        row.revision = nextRevision++;
        row.since = now;
        first.state = "hold";
        first.revision = row.revision;
    }

    private void bind(Row row, AffinityTarget target) {
        row.target = target;
        row.sequence = nextSequence++;
        row.writer = 0;
        row.deadline = now + config.ttl().toNanos();
        for (Request waiter : row.waiters) {
            if (target.admitsRequest(waiter.explicit)) {
                use(waiter, row);
            } else {
                waiter.state = "refused";
            }
        }
        row.waiters.clear();
    }

    void cancel(Request waiter) {
        if (waiter.state.equals("waiting")) {
            rows.get(waiter.session).waiters.remove(waiter);
            waiter.state = "cancelled";
        }
    }

    /** A refused commit closes the hold. */
    void commit(Request hold, AffinityTarget dispatched) {
        Row row = rows.get(hold.session);
        boolean mine = row != null && row.revision == hold.revision;
        if (hold.target == null) {
            boolean agrees = hold.explicit == null || hold.explicit.admitsDispatch(dispatched);
            if (mine && agrees && !row.bound()) {
                row.leases = 1;
                bind(row, dispatched);
                adopt(hold, row);
                hold.state = "lease";
            } else if (mine && agrees && row.reserved && (!hard() || row.target.admitsDispatch(dispatched))) {
                row.reserved = false;
                adopt(hold, row);
                hold.state = "lease";
            }
        } else if (mine
                && row.bound()
                && (!hard() || row.target.admitsDispatch(dispatched) || hold.target.admitsDispatch(dispatched))) {
            hold.state = "lease";
        }
        if (!hold.state.equals("lease")) {
            close(hold);
            return;
        }
        AffinityTarget rebound = hold.target.reboundTo(dispatched);
        if (!hard() && !rebound.equals(hold.target)) {
            hold.moveTo = rebound;
            if (config.rebindMoment() == RebindMoment.ON_DISPATCH) {
                move(hold);
            }
        }
    }

    void firstToken(Request lease) {
        if (lease.state.equals("lease") && config.rebindMoment() != RebindMoment.ON_SUCCESS) {
            move(lease);
        }
    }

    private void move(Request lease) {
        Row row = rows.get(lease.session);
        if (lease.moveTo != null && sameBinding(lease, row) && !lease.moveTo.equals(row.target)) {
            row.target = lease.moveTo;
            row.sequence = nextSequence++;
            row.writer = 0;
            adopt(lease, row);
        }
        lease.moveTo = null;
    }

    private static boolean sameVersion(Request request, Row row) {
        return row.sequence == request.sequence && row.writer == request.writer;
    }

    private static boolean sameBinding(Request request, Row row) {
        return row != null
                && row.bound()
                && row.revision == request.revision
                && sameVersion(request, row)
                && row.target.equals(request.target);
    }

    /** Ends a hold or a lease. */
    void close(Request request) {
        if (request.state.equals("closed")) {
            return;
        }
        request.state = "closed";
        Row row = rows.get(request.session);
        if (row == null || row.revision != request.revision) {
            return;
        }
        if (request.target == null) {
            if (!row.bound()) {
                handOff(request.session, row);
            } else if (row.reserved) {
                row.reserved = false;
                row.leases--;
            }
        } else if (row.bound() && row.leases > 0) {
            row.leases--;
            if (sameVersion(request, row)) {
                row.deadline = now + config.ttl().toNanos();
            }
        }
    }

    void invalidate(Request request) {
        Row row = rows.get(request.session);
        if (request.target == null || request.state.equals("closed")) {
            close(request);
            return;
        }
        request.state = "closed";
        if (row == null || row.revision != request.revision || !row.bound()) {
            return;
        }
        if (sameVersion(request, row)) {
            rows.remove(request.session);
            bury(request.session, nextSequence++, 0);
        } else {
            row.leases = Math.max(0, row.leases - 1);
        }
    }

    Request join(String session, AffinityTarget target) {
        Row row = rows.get(session);
        Request joiner = new Request(session, null);
        if (row == null || row.bound()) {
            joiner.state = "empty";
            return joiner;
        }
        row.leases = 2;
        row.reserved = true;
        bind(row, target);
        adopt(joiner, row);
        joiner.state = "lease";
        return joiner;
    }

    int removeWorker(long worker) {
        List<String> gone = rows.entrySet().stream()
                .filter(e -> e.getValue().bound() && e.getValue().target.workerId() == worker)
                .map(Map.Entry::getKey)
                .toList();
        for (String session : gone) {
            Row row = rows.remove(session);
            bury(session, row.sequence, row.writer);
        }
        return gone.size();
    }

    ReplicaApplyOutcome apply(String session, AffinityTarget target, long sequence, long writer) {
        nextSequence = Math.max(nextSequence, sequence + 1);
        Row row = rows.get(session);
        if (row != null && !row.bound()) {
            if (target == null) {
                bury(session, sequence, writer);
            }
            return ReplicaApplyOutcome.IGNORED_INITIALIZING;
        }
        if (target == null) {
            if (row != null && compare(row.sequence, row.writer, sequence, writer) > 0) {
                return ReplicaApplyOutcome.IGNORED_CONFLICT;
            }
            rows.remove(session);
            bury(session, sequence, writer);
            return row == null ? ReplicaApplyOutcome.REMEMBERED : ReplicaApplyOutcome.REMOVED;
        }
        if (row != null && !expired(row)) {
            int age = compare(sequence, writer, row.sequence, row.writer);
            boolean same = target.equals(row.target);
            if (age < 0 || (age == 0 && !same)) {
                return ReplicaApplyOutcome.IGNORED_CONFLICT;
            }
            learn(row, target, sequence, writer);
            return same ? ReplicaApplyOutcome.REFRESHED : ReplicaApplyOutcome.REPLACED_NEWER;
        }
        long[] tombstone = tombstones.get(session);
        if (tombstone != null && tombstone[2] > now && compare(sequence, writer, tombstone[0], tombstone[1]) <= 0) {
            return ReplicaApplyOutcome.IGNORED_CONFLICT;
        }
        if (row == null && rows.size() >= config.maxEntries()) {
            return ReplicaApplyOutcome.REJECTED_CAPACITY;
        }
        Row learned = new Row();
        learned.revision = nextRevision++;
        learn(learned, target, sequence, writer);
        rows.put(session, learned);
        return row == null ? ReplicaApplyOutcome.INSERTED : ReplicaApplyOutcome.REPLACED_EXPIRED;
    }

    private void learn(Row row, AffinityTarget target, long sequence, long writer) {
        row.target = target;
        row.sequence = sequence;
        row.writer = writer;
        row.deadline = now + config.ttl().toNanos();
    }

    private void bury(String session, long sequence, long writer) {
        long[] before = tombstones.remove(session);
        boolean older = before != null && compare(before[0], before[1], sequence, writer) > 0;
        tombstones.put(session, new long[] {
            older ? before[0] : sequence,
            older ? before[1] : writer,
            now + config.tombstoneRetention().toNanos()
        });
        tombstones.values().removeIf(t -> t[2] <= now);
        if (tombstones.size() > config.maxEntries()) {
            tombstones.remove(tombstones.keySet().iterator().next());
        }
    }

    private static int compare(long sequence, long writer, long otherSequence, long otherWriter) {
        return sequence != otherSequence ? Long.compare(sequence, otherSequence) : Long.compare(writer, otherWriter);
    }

    /** One step of time: waiters take over what is overdue at once, the reaper comes when its period is round. */
    void step() {
        now += STEP;
        boolean reaper = now % config.reaperPeriod().toNanos() == 0;
        for (String session : List.copyOf(rows.keySet())) {
            Row row = rows.get(session);
            if (overdue(row) && (reaper || !row.waiters.isEmpty())) {
                handOff(session, row);
            } else if (reaper && expired(row)) {
                rows.remove(session);
            }
        }
        if (reaper) {
            tombstones.values().removeIf(t -> t[2] <= now);
        }
    }
}
