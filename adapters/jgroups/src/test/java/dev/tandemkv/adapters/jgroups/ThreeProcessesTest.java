package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three gateways in three Java processes: one joins while the others are busy, the network is cut and healed, one is killed. Each process
 * checks that each of its decisions names a worker that may be chosen, and fails its answer otherwise.
 */
class ThreeProcessesTest {

    private static final long ORPHAN_MILLIS = 1_500;
    private static final int SESSIONS = 10;

    private final String cluster = "test-" + UUID.randomUUID();

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void joinUnderLoad_partition_andDeath() throws Exception {
        try (Child a = new Child(cluster, ORPHAN_MILLIS);
                Child b = new Child(cluster, ORPHAN_MILLIS);
                Child c = new Child(cluster, ORPHAN_MILLIS)) {
            List<Child> all = List.of(a, b, c);
            joinUnderLoad(a, b, c);
            ledgersConverge_nothingIsCountedTwice(all);
            partition_andMerge(a, b, c);
            death(a, b, c);
        }
    }

    /** The third comes while the first two book and free; it books at once, too. */
    private static void joinUnderLoad(Child a, Child b, Child c) throws Exception {
        a.join();
        b.join(a);
        a.expect("members 2", "reached");
        a.expect("load", "done");
        b.expect("load", "done");
        c.join(a, b);
        c.expect("load", "done");
        for (Child each : List.of(a, b, c)) {
            each.expect("members 3", "reached");
        }
    }

    private void ledgersConverge_nothingIsCountedTwice(List<Child> all) throws Exception {
        for (Child each : all) {
            String booked = each.ask("stop");
            assertThat(booked).containsOnlyDigits();
            each.expect("booked", booked);
            each.expect("dropped", "0");
        }
        for (Child each : all) {
            each.expect("counted " + all.size() * BookingLoad.LIVE, "reached");
        }
        for (Child each : all) {
            each.expect("freeAll", "done");
        }
        for (Child each : all) {
            each.expect("counted 0", "reached");
        }
    }

    private void partition_andMerge(Child a, Child b, Child c) throws Exception {
        List<Child> all = List.of(a, b, c);
        a.ask("book before-a sa");
        b.ask("book before-b sb");
        for (Child each : all) {
            each.expect("counted 2", "reached");
        }
        a.expect("cut " + b.port() + ' ' + c.port(), "reached");
        b.expect("cut " + a.port(), "reached");
        c.expect("cut " + a.port(), "reached");
        a.expect("members 1", "reached");
        b.expect("members 2", "reached");
        c.expect("members 2", "reached");
        // Both sides go on: each binds the same sessions, to workers of its own, and one ends a booking that the other
        // knows.
        for (int i = 0; i < SESSIONS; i++) {
            a.expect("book a" + i + " split" + i + " 1", "1");
            b.expect("book b" + i + " split" + i + " 2", "2");
        }
        a.expect("free before-a", "done");
        c.expect("sticks split0 2", "reached");
        for (Child each : all) {
            each.expect("heal", "done");
        }
        for (Child each : all) {
            each.expect("members 3", "reached");
        }
        // before-b and both sides' bookings; what ended unheard is forgotten in its time.
        for (Child each : all) {
            each.expect("counted " + (1 + 2 * SESSIONS), "reached");
        }
        for (int i = 0; i < SESSIONS; i++) {
            comeToAgree("split" + i, all);
        }
        a.expect("freeAll", "done");
        b.expect("freeAll", "done");
        for (Child each : all) {
            each.expect("counted 0", "reached");
        }
    }

    /** All come to send a session to one of the two workers that it was bound to. */
    private static void comeToAgree(String session, List<Child> all) throws Exception {
        long until = System.nanoTime() + GroupNetwork.PATIENCE.toNanos();
        Set<String> bindings;
        do {
            bindings = new TreeSet<>();
            for (Child each : all) {
                bindings.add(each.ask("look " + session));
            }
        } while (bindings.size() > 1 && System.nanoTime() - until < 0);
        assertThat(bindings).as(session).hasSize(1).isSubsetOf("1", "2");
    }

    private void death(Child a, Child b, Child c) throws Exception {
        a.ask("book survives s1");
        c.ask("book dies s2");
        a.expect("counted 2", "reached");
        b.expect("counted 2", "reached");
        c.kill();
        a.expect("members 2", "reached");
        b.expect("members 2", "reached");
        for (int i = 0; i < SESSIONS; i++) {
            assertThat(b.ask("book after" + i + " s2")).containsOnlyDigits();
        }
        // The dead one's booking goes with its time, the others' stay.
        a.expect("counted " + (1 + SESSIONS), "reached");
        b.expect("counted " + (1 + SESSIONS), "reached");
    }
}
