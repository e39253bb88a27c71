package dev.tandemkv.adapters.jgroups;

import static dev.tandemkv.selection.host.ReplicaChannel.BOOKINGS;
import static dev.tandemkv.selection.host.ReplicaChannel.SESSIONS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.selection.host.ReplicaChannel.Outcome;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.ObjectMessage;
import org.jgroups.View;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.stack.Protocol;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReplicaGroupTest {

    private final Set<Thread> before = Thread.getAllStackTraces().keySet();
    private final Members members = new Members();

    @AfterEach
    void end() {
        members.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static BlockingQueue<String> heard(ReplicaGroup group, String topic) {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        group.subscribe(topic, payload -> heard.add(new String(payload, StandardCharsets.UTF_8)));
        return heard;
    }

    private static String next(BlockingQueue<String> heard) throws InterruptedException {
        return heard.poll(40, TimeUnit.SECONDS);
    }

    @Test
    void topics_reachTheirHandlers_inOrder() throws Exception {
        List<ReplicaGroup> pair = members.pair();
        ReplicaGroup a = pair.get(0);
        ReplicaGroup b = pair.get(1);
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        BlockingQueue<String> sessions = heard(b, SESSIONS);
        Members.await(() -> a.stats().joined() == 2);
        for (int i = 0; i < 1_000; i++) {
            assertThat(a.publish(i % 3 == 0 ? SESSIONS : BOOKINGS, bytes("" + i)))
                    .isEqualTo(Outcome.ACCEPTED);
        }
        for (int i = 0; i < 1_000; i++) {
            assertThat(next(i % 3 == 0 ? sessions : bookings)).isEqualTo("" + i);
        }
        assertThat(a.stats().sent()).isEqualTo(1_000);
        assertThat(b.stats().received()).isEqualTo(1_000);
        assertThat(a.stats().received()).as("nobody hears himself").isZero();
        assertThat(a.processId()).isNotEqualTo(b.processId());
    }

    @Test
    void messageLongerThanAPacket_arrivesWhole() throws Exception {
        List<ReplicaGroup> pair = members.pair();
        BlockingQueue<String> bookings = heard(pair.get(1), BOOKINGS);
        String mebibytes = "0123456789abcdef".repeat(3 << 16);
        pair.get(0).publish(BOOKINGS, bytes(mebibytes));
        assertThat(next(bookings)).isEqualTo(mebibytes);
    }

    @Test
    void whatIsNoneOfOurs_isCounted_andHarmsNothing() throws Exception {
        ReplicaGroup member = members.join(members.settings());
        BlockingQueue<String> bookings = heard(member, BOOKINGS);
        try (JChannel stranger = Stack.channel(members.settings(member).build()).connect(members.cluster)) {
            stranger.send(new EmptyMessage(null));
            stranger.send(new BytesMessage(null, new byte[0]));
            stranger.send(new ObjectMessage(null, "an object"));
            stranger.send(new BytesMessage(null, new byte[] {0, 1, 2}));
            stranger.send(new BytesMessage(null, new byte[] {99}));
            stranger.send(new BytesMessage(null, Frame.of(SESSIONS, bytes("nobody listens to these"))));
            stranger.send(new BytesMessage(null, Frame.of(BOOKINGS, bytes("good"))));
            assertThat(next(bookings)).isEqualTo("good");
        }
        assertThat(member.stats().malformed()).isEqualTo(3);
        assertThat(member.stats().foreign()).isEqualTo(3);
        assertThat(member.stats().received()).isEqualTo(1);
    }

    @Test
    void whatWaitsBeyondTheBounds_isDroppedAndCounted_eachTopicForItself() throws Exception {
        ReplicaGroup a = members.join(
                members.settings().outboundBookings(3).outboundSessions(1).maxMessageBytes(10));
        ReplicaGroup b = members.join(members.settings(a));
        BlockingQueue<String> bookings = heard(b, BOOKINGS);
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        a.onPeer(() -> {
            busy.countDown();
            awaitUninterrupted(released);
        });
        heard(b, SESSIONS);
        // The sending thread is in the listener: nothing leaves.
        assertThat(busy.await(40, TimeUnit.SECONDS)).isTrue();
        assertThat(a.publish(BOOKINGS, bytes("eleven bytes"))).isEqualTo(Outcome.DROPPED);
        for (int i = 0; i < 3; i++) {
            assertThat(a.publish(BOOKINGS, bytes("" + i))).isEqualTo(Outcome.ACCEPTED);
        }
        assertThat(a.publish(BOOKINGS, bytes("3"))).isEqualTo(Outcome.DROPPED);
        assertThat(a.publish(SESSIONS, bytes("s"))).isEqualTo(Outcome.ACCEPTED);
        assertThat(a.publish(SESSIONS, bytes("t"))).isEqualTo(Outcome.DROPPED);
        assertThat(a.stats().dropped()).isEqualTo(3);
        released.countDown();
        for (int i = 0; i < 3; i++) {
            assertThat(next(bookings)).isEqualTo("" + i);
        }
        assertThatThrownBy(() -> a.publish("another", new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.subscribe("another", payload -> {})).isInstanceOf(IllegalArgumentException.class);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void partsThatMeet_areToldOfEachOther() throws Exception {
        ReplicaGroup a = members.join(members.settings().mergeEvery(GroupNetwork.MERGING));
        ReplicaGroup b = members.join(members.settings().mergeEvery(GroupNetwork.MERGING));
        CountDownLatch told = new CountDownLatch(2);
        a.onPeer(told::countDown);
        b.onPeer(told::countDown);
        assertThat(a.members()).hasSize(1);
        ReplicaGroup c = members.join(members.settings(a, b).mergeEvery(GroupNetwork.MERGING));
        Members.awaitMembers(3, a, b, c);
        assertThat(told.await(40, TimeUnit.SECONDS)).isTrue();
        assertThat(a.stats().merges() + b.stats().merges()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void memberThatLeaves_isGoneAtOnce_andLeavesNoThread() {
        List<ReplicaGroup> pair = members.pair();
        ReplicaGroup a = pair.get(0);
        ReplicaGroup b = pair.get(1);
        heard(a, BOOKINGS);
        a.publish(BOOKINGS, bytes("the last"));
        a.close();
        a.close();
        assertThat(a.publish(BOOKINGS, bytes("too late"))).isEqualTo(Outcome.DROPPED);
        assertThat(a.members()).isEmpty();
        Members.awaitMembers(1, b);
        b.close();
        Members.await(() -> threads().isEmpty());
    }

    @Test
    void memberClosedByAnInterruptedThread_leaves_andTheThreadStaysInterrupted() {
        List<ReplicaGroup> pair = members.pair();
        Thread.currentThread().interrupt();
        pair.get(1).close();
        assertThat(Thread.interrupted()).isTrue();
        Members.awaitMembers(1, pair.get(0));
    }

    /**
     * The others have let it go by then, and would take a view that it is still in for that of a lost part. It gets another when one more
     * member leaves meanwhile.
     */
    @Test
    void memberThatLeaves_tellsOfItsViewNoMore_evenIfItGetsAnother() throws Exception {
        List<ReplicaGroup> pair = members.pair();
        ReplicaGroup leaver = pair.get(1);
        ProtocolStack stack = leaver.channel().stack();
        MERGE3 merge = stack.findProtocol(MERGE3.class);
        GMS membership = stack.findProtocol(GMS.class);
        List<Boolean> telling = new CopyOnWriteArrayList<>();
        stack.insertProtocolInStack(
                new Protocol() {
                    @Override
                    public Object down(Event event) {
                        if (event.getType() == Event.DISCONNECT) {
                            // Membership says good-bye when it gets this.
                            telling.add(merge.isInfoSenderRunning());
                            membership.installView(next(membership.view()));
                            telling.add(merge.isInfoSenderRunning());
                        }
                        return down_prot.down(event);
                    }
                },
                membership,
                ProtocolStack.Position.ABOVE);
        assertThat(merge.isInfoSenderRunning()).isTrue();
        long views = leaver.stats().views();
        leaver.close();
        assertThat(leaver.stats().views()).isEqualTo(views + 1);
        assertThat(telling).containsExactly(false, false);
        Members.awaitMembers(1, pair.get(0));
    }

    private static View next(View view) {
        return new View(view.getCreator(), view.getViewId().getId() + 1, view.getMembers());
    }

    /** Threads of groups that were not there when this test began. */
    private List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name ->
                        name.contains("jgroups") || name.contains("TcpServer") || name.contains(members.cluster))
                .toList();
    }

    @Test
    void addressThatIsTaken_isToldTyped_andLeavesNoThread() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress bind = (InetSocketAddress) taken.getLocalSocketAddress();
            GroupSettings settings = GroupSettings.builder(bind, GroupDiscovery.members())
                    .cluster(members.cluster)
                    .build();
            assertThatThrownBy(() -> ReplicaGroup.join(settings))
                    .isInstanceOfSatisfying(
                            GroupUnavailableException.class,
                            e -> assertThat(e.bind()).isEqualTo(bind))
                    .hasMessageContaining(members.cluster);
        }
        Members.await(() -> threads().isEmpty());
    }
}
