package dev.tandemkv.testkit.replica;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaChannel.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Checks that gateways which are connected by a {@link ReplicaChannel} share what they must, from one line of any test framework:
 *
 * <pre>{@code
 * ReplicaChannelContract.verify(MyNetwork::new);
 * }</pre>
 *
 * <p>Each rule gets a fresh network, on which nothing is lost while the gateways live. Every broken rule is named in one {@link
 * AssertionError}, with what was seen. What must happen is waited for, 30 s unless told otherwise.
 */
public final class ReplicaChannelContract {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ReplicaNetwork network;
    private final Duration patience;

    private ReplicaChannelContract(ReplicaNetwork network, Duration patience) {
        this.network = network;
        this.patience = patience;
    }

    /** Checks every rule, and waits 30 s for each thing that must happen. */
    public static void verify(Supplier<? extends ReplicaNetwork> networks) {
        verify(networks, PATIENCE);
    }

    /**
     * Checks every rule.
     *
     * @param networks makes a network without gateways
     * @param patience how long is waited for one thing
     * @throws AssertionError naming every rule that is broken
     */
    public static void verify(Supplier<? extends ReplicaNetwork> networks, Duration patience) {
        Objects.requireNonNull(networks, "networks");
        Objects.requireNonNull(patience, "patience");
        List<String> broken = new ArrayList<>();
        for (Rule rule : Rule.values()) {
            try (ReplicaNetwork network = networks.get()) {
                rule.check(new ReplicaChannelContract(network, patience));
            } catch (Broken | SelectionException e) {
                broken.add(rule + ": " + e.getMessage());
            } catch (RuntimeException | AssertionError e) {
                broken.add(rule + ": " + e);
            }
        }
        if (!broken.isEmpty()) {
            throw new AssertionError(
                    broken.size() + " rules of ReplicaChannel are broken:\n  " + String.join("\n  ", broken));
        }
    }

    private enum Rule {
        LOAD_IS_SEEN_AND_ENDS_WITH_ITS_BOOKING,
        SESSIONS_STICK_EVERYWHERE,
        ANOTHER_ENDS_A_BOOKING_BY_ITS_ID,
        JOINER_IS_TOLD_WHAT_WAS_BEFORE_IT,
        DEAD_GATEWAY_LEAVES_WHAT_IT_BOOKED,
        MANY_BOOKINGS_CONVERGE,
        CLOSED_CHANNEL_TAKES_NOTHING;

        void check(ReplicaChannelContract c) {
            switch (this) {
                case LOAD_IS_SEEN_AND_ENDS_WITH_ITS_BOOKING -> c.loadIsSeenAndEndsWithItsBooking();
                case SESSIONS_STICK_EVERYWHERE -> c.sessionsStickEverywhere();
                case ANOTHER_ENDS_A_BOOKING_BY_ITS_ID -> c.anotherEndsABookingByItsId();
                case JOINER_IS_TOLD_WHAT_WAS_BEFORE_IT -> c.joinerIsToldWhatWasBeforeIt();
                case DEAD_GATEWAY_LEAVES_WHAT_IT_BOOKED -> c.deadGatewayLeavesWhatItBooked();
                case MANY_BOOKINGS_CONVERGE -> c.manyBookingsConverge();
                case CLOSED_CHANNEL_TAKES_NOTHING -> c.closedChannelTakesNothing();
            }
        }
    }

    /** A rule that does not hold. */
    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Broken(String message) {
            super(message);
        }
    }

    private void loadIsSeenAndEndsWithItsBooking() {
        ReplicaGateway a = network.join();
        ReplicaGateway b = network.join();
        WorkerRank first = a.book("first", "s1");
        comesToCount(b, 1);
        require(b.counted(first) == 1, "the peer counts the booking on another worker");
        WorkerRank second = b.book("second", "s2");
        require(!second.equals(first), "the peer's load did not matter to the decision");
        comesToCount(a, 2);
        a.freeAll();
        b.freeAll();
        comesToCount(a, 0);
        comesToCount(b, 0);
        for (ReplicaGateway each : List.of(a, b)) {
            require(each.replicaStats().malformed() == 0, "a message could not be read");
        }
    }

    private void sessionsStickEverywhere() {
        ReplicaGateway a = network.join();
        ReplicaGateway b = network.join();
        WorkerRank bound = a.book("r", "session");
        // The binding goes out before the booking; order is no rule, so each is waited for.
        comesToCount(b, 1);
        comesTrue(b, () -> b.look("prompt", "session").equals(bound), "the session to stick at the peer");
        for (int i = 0; i < 10; i++) {
            require(b.look("prompt" + i, "session").equals(bound), "the session does not stick at the peer");
        }
    }

    private void anotherEndsABookingByItsId() {
        ReplicaGateway a = network.join();
        ReplicaGateway b = network.join();
        a.book("r", "s");
        comesToCount(b, 1);
        require(freed(b, "r"), "the peer could not free the booking by its id");
        comesToCount(a, 0);
        comesTrue(a, () -> a.core().stats().freed() == 1, "the owner to free its booking");
    }

    private void joinerIsToldWhatWasBeforeIt() {
        ReplicaGateway a = network.join();
        WorkerRank bound = a.book("r1", "session");
        a.book("r2", "other");
        ReplicaGateway b = network.join();
        comesToCount(b, 2);
        comesTrue(b, () -> b.look("prompt", "session").equals(bound), "the session to stick at the joiner");
        require(a.replicaStats().told() >= 2, "the joiner knows what nobody told it again");
    }

    private void deadGatewayLeavesWhatItBooked() {
        ReplicaGateway a = network.join();
        a.book("mine", "s");
        ReplicaGateway dead = network.join();
        dead.book("lost", "t");
        comesToCount(a, 2);
        network.kill(dead);
        ReplicaGateway successor = network.join();
        comesTrue(successor, () -> successor.counted() >= 1, "the successor to be told");
        successor.book("new", "u");
        comesToCount(a, 3);
        // It would end by its time, and anybody may end it before.
        require(freed(a, "lost"), "nobody could free what the dead one booked");
        comesToCount(a, 2);
        comesToCount(successor, 2);
    }

    private void manyBookingsConverge() {
        List<ReplicaGateway> all = List.of(network.join(), network.join(), network.join());
        for (int i = 0; i < 300; i++) {
            all.get(i % 3).book("r" + i, "s" + i % 10);
            if (i >= 30) {
                all.get((i - 30) % 3).free("r" + (i - 30));
            }
        }
        all.forEach(each -> comesToCount(each, 30));
        all.forEach(ReplicaGateway::freeAll);
        for (ReplicaGateway each : all) {
            comesToCount(each, 0);
            comesTrue(each, () -> each.core().stats().freed() == 100, "100 bookings of its own to be freed");
            require(each.core().stats().booked() == 100, "peers' bookings are counted as its own");
            require(each.replicaStats().outboundDropped() == 0, "a message was dropped on its way out");
        }
    }

    private void closedChannelTakesNothing() {
        ReplicaGateway a = network.join();
        ReplicaGateway b = network.join();
        a.close();
        ReplicaChannel channel = a.channel();
        channel.close();
        channel.close();
        require(
                channel.publish(ReplicaChannel.BOOKINGS, new byte[] {1}) == Outcome.DROPPED,
                "a closed channel accepts");
        b.book("r", "s");
        require(b.counted() == 1, "a gateway whose peer has closed does not book");
    }

    private static boolean freed(ReplicaGateway at, String id) {
        return at.core().free(id).toCompletableFuture().join() == FreeOutcome.FREED;
    }

    private void comesToCount(ReplicaGateway gateway, int bookings) {
        if (!gateway.comesToCount(bookings, patience)) {
            throw new Broken("a gateway counts " + gateway.counted() + " bookings after " + patience.toSeconds()
                    + " s (expected: " + bookings + ')');
        }
    }

    private void comesTrue(ReplicaGateway at, BooleanSupplier condition, String what) {
        if (!at.comesTrue(condition, patience)) {
            throw new Broken("waited " + patience.toSeconds() + " s for " + what);
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new Broken(otherwise);
        }
    }
}
