package dev.tandemkv.benchmarks.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tandemkv.affinity.Acquisition;
import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.affinity.AffinityStats;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Claim: whatever is acquired ends exactly once, whoever ends it and however many at a time. */
public final class HandleRaces {

    private HandleRaces() {}

    /** One booking on one worker, and its books. */
    private static final class Booked {
        private final SelectionCore core;
        private final Booking booking;

        Booked() {
            VirtualTime time = new VirtualTime();
            core = SelectionCore.builder().scheduler(time).ticker(time).build();
            core.upsert(WorkerSpec.builder(1).endpoint("h:1").blockSize(16).build());
            long[] hashes = {1};
            booking = core.selectAndReserve(SelectRequest.builder(Prompt.ofHashes(hashes, hashes, 16))
                            .selectionId("s")
                            .build())
                    .toCompletableFuture()
                    .join();
        }

        int free() {
            return core.free(booking).toCompletableFuture().join() == FreeOutcome.FREED ? 1 : 0;
        }

        int load() {
            return (int) core.loads(PartitionKey.DEFAULT).orElseThrow().loads().stream()
                    .mapToLong(load -> load.activeRequests())
                    .sum();
        }
    }

    /** Two frees of one booking. Guards against check-then-act in the ledger: two FREED, or none. r3 counts the ledger's own frees and leftovers. */
    @JCStressTest
    @State
    @Outcome(
            id = {"1, 0, 1", "0, 1, 1"},
            expect = ACCEPTABLE,
            desc = "one of the two")
    @Outcome(expect = FORBIDDEN, desc = "freed twice or never")
    public static class FreeAgainstFree {
        private final Booked booked = new Booked();

        @Actor
        public void one(III_Result r) {
            r.r1 = booked.free();
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = booked.free();
        }

        @Arbiter
        public void atRest(III_Result r) {
            r.r3 = (int) booked.core.stats().freed() + 10 * booked.load();
        }
    }

    /** The handle is closed while the pool frees it by name. Guards against the two ways having two notions of "already". */
    @JCStressTest
    @State
    @Outcome(id = "[01], 1, 0", expect = ACCEPTABLE, desc = "freed once, nothing left")
    @Outcome(expect = FORBIDDEN, desc = "freed twice or never")
    public static class CloseAgainstFree {
        private final Booked booked = new Booked();

        @Actor
        public void close() {
            booked.booking.close();
        }

        @Actor
        public void free(III_Result r) {
            r.r1 = booked.free();
        }

        @Arbiter
        public void atRest(III_Result r) {
            r.r2 = (int) booked.core.stats().freed();
            r.r3 = booked.load();
        }
    }

    /** One handle, closed twice. Guards against a handle whose idempotence is a plain flag. r1 counts how often its end is told. */
    @JCStressTest
    @State
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "freed once, told once, nothing left")
    @Outcome(expect = FORBIDDEN, desc = "freed twice or never")
    public static class CloseAgainstClose {
        private final Booked booked = new Booked();
        private final AtomicInteger told = new AtomicInteger();

        public CloseAgainstClose() {
            booked.booking.ended().thenAccept(reason -> told.incrementAndGet());
        }

        @Actor
        public void one() {
            booked.booking.close();
        }

        @Actor
        public void other() {
            booked.booking.close();
        }

        @Arbiter
        public void atRest(III_Result r) {
            r.r1 = told.get();
            r.r2 = (int) booked.core.stats().freed();
            r.r3 = booked.load();
        }
    }

    /** An action is registered while the signal fires. Guards against an action that misses the signal, or runs for both. */
    @JCStressTest
    @State
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "ran once")
    @Outcome(expect = FORBIDDEN, desc = "lost or run twice")
    public static class CancelAgainstOnCancel {
        private final CancellationSignal.Source signal = CancellationSignal.source();
        private final AtomicInteger runs = new AtomicInteger();

        @Actor
        public void cancel() {
            signal.cancel();
        }

        @Actor
        public void register() {
            signal.onCancel(runs::incrementAndGet);
        }

        @Arbiter
        public void atRest(I_Result r) {
            r.r1 = runs.get();
        }
    }

    /** A signal fires twice at a time. Guards against its actions running for both. */
    @JCStressTest
    @State
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "ran once")
    @Outcome(expect = FORBIDDEN, desc = "lost or run twice")
    public static class CancelAgainstCancel {
        private final CancellationSignal.Source signal = CancellationSignal.source();
        private final AtomicInteger runs = new AtomicInteger();

        public CancelAgainstCancel() {
            signal.onCancel(runs::incrementAndGet);
        }

        @Actor
        public void one() {
            signal.cancel();
        }

        @Actor
        public void other() {
            signal.cancel();
        }

        @Arbiter
        public void atRest(I_Result r) {
            r.r1 = runs.get();
        }
    }

    /** A lease ends well while its worker is found gone. Guards against giving one use back twice: leases, bindings left, bindings invalidated. */
    @JCStressTest
    @State
    @Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "closed first: the binding stays")
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "invalidated first: the binding is gone")
    @Outcome(expect = FORBIDDEN, desc = "ended twice or never")
    public static class ReleaseAgainstInvalidate {
        private final Leased leased = new Leased();

        @Actor
        public void release() {
            leased.lease.close();
        }

        @Actor
        public void invalidate() {
            leased.lease.invalidate();
        }

        @Arbiter
        public void atRest(III_Result r) {
            leased.readInto(r);
        }
    }

    /** A lease ends while all bindings to its worker are removed. Guards against the release bringing the binding back. */
    @JCStressTest
    @State
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "nothing left")
    @Outcome(expect = FORBIDDEN, desc = "a lease or a binding survives")
    public static class ReleaseAgainstRemoval {
        private final Leased leased = new Leased();

        @Actor
        public void release() {
            leased.lease.close();
        }

        @Actor
        public void remove() {
            leased.table.removeTargets(target -> true);
        }

        @Arbiter
        public void atRest(III_Result r) {
            leased.readInto(r);
        }
    }

    /** One session with one lease. */
    private static final class Leased {
        private final SessionAffinity table;
        private final AffinityLease lease;

        Leased() {
            VirtualTime time = new VirtualTime();
            table = SessionAffinity.builder(
                            AffinityConfig.builder(Duration.ofSeconds(10)).build(), time, time.clock(), time)
                    .build();
            lease = ((Acquisition.Held) table.tryAcquire("s", null)).hold().commit(AffinityTarget.ofWorker(1));
        }

        void readInto(III_Result r) {
            AffinityStats stats = table.stats();
            r.r1 = (int) (stats.activeLeases() + 10L * stats.openHandles());
            r.r2 = (int) stats.entries();
            r.r3 = (int) stats.invalidated();
        }
    }
}
