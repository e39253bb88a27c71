package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import org.junit.jupiter.api.Test;

/** Gateways in one process that know of each other through sockets alone. */
class TwoGatewaysTest {

    @Test
    void load_isShared_andFreedWithTheBooking() throws Exception {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway()) {
            Gateway.connect(a, b);
            WorkerRank first = a.book("first", "s1");
            b.awaitCount(1);
            assertThat(b.counted(first)).isEqualTo(1);
            WorkerRank second = b.book("second", "s2");
            assertThat(second).as("the mirrored load is seen").isNotEqualTo(first);
            a.awaitCount(2);
            a.own.values().forEach(Booking::close);
            b.own.values().forEach(Booking::close);
            a.awaitCount(0);
            b.awaitCount(0);
            assertThat(a.core.replicaStats().orElseThrow().malformed()).isZero();
            assertThat(b.core.replicaStats().orElseThrow().unknown()).isZero();
        }
    }

    @Test
    void sessions_stickOnBoth() throws Exception {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway()) {
            Gateway.connect(a, b);
            WorkerRank bound = a.book("r", "session");
            // The binding goes out before the booking, on the same way.
            b.awaitCount(1);
            for (int i = 0; i < 10; i++) {
                assertThat(b.look("prompt" + i, "session")).isEqualTo(bound);
            }
        }
    }

    @Test
    void bookingOfOne_isEndedByIdOnTheOther() throws Exception {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway()) {
            Gateway.connect(a, b);
            a.book("r", "s");
            b.awaitCount(1);
            assertThat(b.core.free("r").toCompletableFuture().join()).isEqualTo(FreeOutcome.FREED);
            a.awaitCount(0);
            a.signal.await(() -> a.core.stats().freed() == 1);
        }
    }

    @Test
    void joiner_isToldWhatIsBookedAndBound() throws Exception {
        try (Gateway a = new Gateway()) {
            WorkerRank bound = a.book("r1", "session");
            a.book("r2", "other");
            try (Gateway b = new Gateway()) {
                Gateway.connect(a, b);
                b.awaitCount(2);
                b.signal.await(() -> b.look("prompt", "session").equals(bound));
                assertThat(a.core.replicaStats().orElseThrow().told()).isGreaterThanOrEqualTo(2);
            }
        }
    }

    @Test
    void gatewayThatDies_andItsSuccessor() throws Exception {
        try (Gateway a = new Gateway()) {
            a.book("mine", "s");
            Gateway dead = new Gateway();
            Gateway.connect(a, dead);
            dead.book("lost", "t");
            a.awaitCount(2);
            dead.die();
            long before = a.mesh.stats().joined();
            try (Gateway successor = new Gateway()) {
                successor.core.registerPeer(a.mesh.endpoint());
                a.core.registerPeer(successor.mesh.endpoint());
                a.signal.await(() -> a.mesh.stats().joined() >= before + 2);
                successor.awaitCount(1);
                successor.book("new", "u");
                a.awaitCount(3);
                // The dead one's booking can be ended by anybody, and would end by its time.
                assertThat(a.core.free("lost").toCompletableFuture().join()).isEqualTo(FreeOutcome.FREED);
                assertThat(a.counted()).isEqualTo(2);
            }
        }
    }

    @Test
    void peers_comeAndGoAtRunTime() throws Exception {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway()) {
            Gateway.connect(a, b);
            assertThat(b.core.peers()).containsExactly(a.mesh.endpoint());
            assertThat(b.core.registerPeer(a.mesh.endpoint()))
                    .as("known already")
                    .isFalse();
            b.core.deregisterPeer(a.mesh.endpoint());
            assertThat(b.core.peers()).isEmpty();
            a.book("unheard", "s");
            b.book("heard", "t");
            a.awaitCount(2);
            assertThat(b.counted()).as("nobody listens").isEqualTo(1);
            b.core.registerPeer(a.mesh.endpoint());
            b.awaitCount(2);

            assertThatThrownBy(() -> a.core.deregisterPeer("tcp://127.0.0.1:1")).isInstanceOf(NotFoundException.class);
            for (String wrong : new String[] {
                "",
                "127.0.0.1:9",
                "tcp://127.0.0.1",
                "tcp://127.0.0.1:0",
                "tcp://127.0.0.1:65536",
                "tcp://*:9",
                "ipc://x:1",
                "tcp://a b:1",
                "tcp://127.0.0.1:9/x"
            }) {
                assertThatThrownBy(() -> a.core.registerPeer(wrong))
                        .as(wrong)
                        .isInstanceOf(BadRequestException.class)
                        .hasMessageContaining("endpoint");
            }
        }
    }

    @Test
    void threeGateways_convergeAndEndEmpty() throws Exception {
        try (Gateway a = new Gateway();
                Gateway b = new Gateway();
                Gateway c = new Gateway()) {
            a.core.registerPeer(b.mesh.endpoint());
            a.core.registerPeer(c.mesh.endpoint());
            b.core.registerPeer(a.mesh.endpoint());
            b.core.registerPeer(c.mesh.endpoint());
            c.core.registerPeer(a.mesh.endpoint());
            c.core.registerPeer(b.mesh.endpoint());
            Gateway[] all = {a, b, c};
            for (int i = 0; i < 300; i++) {
                Gateway at = all[i % 3];
                at.book("r" + i, "s" + i % 10);
                if (i >= 30) {
                    Gateway earlier = all[(i - 30) % 3];
                    earlier.own.remove("r" + (i - 30)).close();
                }
            }
            for (Gateway each : all) {
                each.awaitCount(30);
            }
            for (Gateway each : all) {
                each.own.values().forEach(Booking::close);
            }
            for (Gateway each : all) {
                each.awaitCount(0);
                assertThat(each.mesh.stats().dropped()).isZero();
                assertThat(each.mesh.stats().congested()).isZero();
                each.signal.await(() -> each.core.stats().freed() == 100);
                assertThat(each.core.stats().booked()).isEqualTo(100);
            }
        }
    }
}
