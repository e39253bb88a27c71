package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaOutbox;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.MERGE3;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A replica channel over JGroups: the gateways form a group, which finds its members, notices who died, and comes together again after the
 * network was cut. Messages of one member arrive at all others in order, and none is lost while both are in the group.
 *
 * <p>A member that begins to listen says so, and every other lets its core tell everything; so does every member of a group that came
 * together from parts. A member that is gone takes nothing with it: what it booked is real until its orphan timeout, since a member that
 * cannot be reached may well be serving.
 *
 * <p>Publishing never waits: messages wait for one thread that sends them, up to a bound, and what is beyond it is dropped and counted.
 * That thread waits for the slowest member ({@link GroupSettings#suspectAfter} at most, if that one is dead).
 *
 * <p>Thread-safe. Handlers run on JGroups' threads, listeners on the sending thread, none under a lock.
 *
 * <pre>{@code
 * GroupSettings settings = GroupSettings.builder(
 *                 new InetSocketAddress("10.0.0.7", 7800), GroupDiscovery.kubernetes("gateways", "inference"))
 *         .security(GroupSecurity.mutualTls(Path.of("/etc/tandemkv/group.p12"), password))
 *         .build();
 * try (ReplicaGroup group = ReplicaGroup.join(settings);
 *         SelectionCore core = SelectionCore.builder()
 *                 .config(SelectionConfig.builder().replicaSync(true).build())
 *                 .host(SelectionHost.builder().replicaChannel(group).build())
 *                 .build()) {
 *     ...
 * }
 * }</pre>
 */
public final class ReplicaGroup implements ReplicaChannel {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaGroup.class);

    /** How long what was published last may take to leave when the group is left. */
    private static final long LINGER_MILLIS = 500;

    /** How long the sending thread may take to end once nothing holds it. */
    private static final long END_MILLIS = 5_000;

    private final GroupSettings settings;
    private final JChannel channel;
    private final long processId;
    private final InetSocketAddress address;
    private final ReplicaOutbox outbox;
    /** Sends, and calls the listeners of {@link #onPeer}. */
    private final ExecutorService sender;

    private final Map<String, List<Handler>> handlers = new ConcurrentHashMap<>();
    private final List<Runnable> onPeer = new CopyOnWriteArrayList<>();
    /** Whether the sending thread was told that something waits. */
    private final AtomicBoolean flushing = new AtomicBoolean();
    /** Whether the sending thread was told of a peer. */
    private final AtomicBoolean peerWaits = new AtomicBoolean();

    private final AtomicBoolean closed = new AtomicBoolean();

    private final LongAdder sent = new LongAdder();
    private final LongAdder sentBytes = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final LongAdder foreign = new LongAdder();
    private final LongAdder joined = new LongAdder();
    private final LongAdder views = new LongAdder();
    private final LongAdder merges = new LongAdder();

    private ReplicaGroup(GroupSettings settings, JChannel channel, ExecutorService sender) throws Exception {
        this.settings = settings;
        this.channel = channel;
        this.sender = sender;
        outbox = new ReplicaOutbox(settings.outboundBookings(), settings.outboundSessions());
        channel.setReceiver(new FromGroup());
        channel.connect(settings.cluster());
        processId = idOf((UUID) channel.getAddress());
        IpAddress physical = (IpAddress) channel.stack().getTransport().localPhysicalAddress();
        address = new InetSocketAddress(physical.getIpAddress(), physical.getPort());
    }

    /**
     * Joins the group, or founds it if nobody is found within {@link GroupSettings#joinTimeout}, for which this waits.
     *
     * @throws GroupUnavailableException if the address cannot be bound or the group does not let this member in; nothing stays open
     */
    public static ReplicaGroup join(GroupSettings settings) {
        if (settings.security() instanceof GroupSecurity.Open
                && !settings.bind().getAddress().isLoopbackAddress()) {
            LOG.warn("group {} at {} is open: whoever reaches it can join", settings.cluster(), settings.bind());
        }
        ExecutorService sender =
                Executors.newSingleThreadExecutor(work -> new Thread(work, "tandemkv-group-" + settings.cluster()));
        JChannel channel = null;
        try {
            channel = Stack.channel(settings);
            return new ReplicaGroup(settings, channel, sender);
        } catch (Exception e) {
            sender.shutdownNow();
            if (channel != null) {
                channel.close();
            }
            throw new GroupUnavailableException(settings, e);
        }
    }

    /** JGroups draws an address for each start; half of it is enough to tell replicas apart. */
    private static long idOf(UUID address) {
        long id = address.getLeastSignificantBits();
        return id == 0 ? address.getMostSignificantBits() : id;
    }

    // ---- any thread

    /** Where this member listens, with the port that was taken. */
    public InetSocketAddress address() {
        return address;
    }

    /** The members of the group as this one sees it, itself included, by JGroups' names for them; the first one coordinates. */
    public List<String> members() {
        View view = channel.getView();
        return view == null
                ? List.of()
                : view.getMembers().stream().map(Object::toString).toList();
    }

    @Override
    public OptionalLong processId() {
        return OptionalLong.of(processId);
    }

    /** @throws IllegalArgumentException if the topic is not one of this interface */
    @Override
    public Outcome publish(String topic, byte[] payload) {
        boolean fits = payload.length <= settings.maxMessageBytes();
        if (closed.get() || !fits || !outbox.offer(topic, payload)) {
            dropped.increment();
            return Outcome.DROPPED;
        }
        if (flushing.compareAndSet(false, true)) {
            onSender(this::flush);
        }
        return Outcome.ACCEPTED;
    }

    /** @throws IllegalArgumentException if the topic is not one of this interface */
    @Override
    public void subscribe(String topic, Handler handler) {
        if (!outbox.knows(topic)) {
            throw new IllegalArgumentException("topic: " + topic + " (expected: one of ReplicaChannel)");
        }
        handlers.computeIfAbsent(topic, t -> new CopyOnWriteArrayList<>()).add(handler);
        // Only now: what the others tell finds its handler.
        onSender(() -> sendFrame(Frame.listening()));
    }

    @Override
    public void onPeer(Runnable told) {
        onPeer.add(told);
    }

    public GroupStats stats() {
        return new GroupStats(
                sent.sum(),
                sentBytes.sum(),
                dropped.sum(),
                received.sum(),
                malformed.sum(),
                foreign.sum(),
                joined.sum(),
                views.sum(),
                merges.sum(),
                members().size());
    }

    /** Sends what waits, as far as the others take it, tells them good-bye and ends every thread. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        sender.execute(this::drain);
        sender.shutdown();
        boolean sentAll = ended(LINGER_MILLIS);
        // JGroups would forget it, and would not wait for its own good-bye.
        boolean interrupted = Thread.interrupted();
        // While it waits for an answer to its good-bye it must not tell of its view, or the others take it for a lost
        // part and bring it back.
        stopMerging();
        // Lets go of a sending thread that waits for a slow member.
        channel.close();
        if (!sentAll) {
            sender.shutdownNow();
            if (!ended(END_MILLIS)) {
                LOG.warn("the sending thread of group {} does not end", settings.cluster());
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void stopMerging() {
        MERGE3 merge = channel.stack().findProtocol(MERGE3.class);
        merge.stop();
    }

    private boolean ended(long millis) {
        try {
            return sender.awaitTermination(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void onSender(Runnable work) {
        try {
            sender.execute(work);
        } catch (RejectedExecutionException e) {
            LOG.debug("group {} is closed", settings.cluster(), e);
        }
    }

    /** The channel below; for tests that cut the network. */
    JChannel channel() {
        return channel;
    }

    // ---- the sending thread

    private void flush() {
        flushing.set(false);
        if (!closed.get()) {
            drain();
        }
    }

    private void drain() {
        for (ReplicaOutbox.Message next = outbox.poll(); next != null; next = outbox.poll()) {
            byte[] frame = Frame.of(next.topic(), next.payload());
            if (sendFrame(frame)) {
                sent.increment();
                sentBytes.add(frame.length);
            } else {
                dropped.increment();
            }
        }
    }

    private boolean sendFrame(byte[] frame) {
        try {
            channel.send(new BytesMessage(null, frame).setFlag(Message.TransientFlag.DONT_LOOPBACK));
            return true;
        } catch (Exception e) {
            LOG.debug("group {} takes no message", settings.cluster(), e);
            return false;
        }
    }

    private void tellOfPeer() {
        peerWaits.set(false);
        onPeer.forEach(Runnable::run);
    }

    // ---- JGroups' threads

    private void peerListens() {
        if (peerWaits.compareAndSet(false, true)) {
            onSender(this::tellOfPeer);
        }
    }

    private void received(Frame frame) {
        if (frame.kind() == Frame.Kind.LISTENING) {
            joined.increment();
            peerListens();
            return;
        }
        List<Handler> takers = handlers.get(frame.kind().topic());
        if (takers == null) {
            foreign.increment();
            return;
        }
        received.increment();
        for (Handler taker : takers) {
            taker.received(frame.payload());
        }
    }

    /** What comes from the group. */
    private final class FromGroup implements Receiver {

        @Override
        public void receive(Message message) {
            if (!message.hasArray() || message.getLength() == 0) {
                malformed.increment();
                return;
            }
            int from = message.getOffset();
            Frame frame = Frame.read(Arrays.copyOfRange(message.getArray(), from, from + message.getLength()));
            if (frame == null) {
                foreign.increment();
            } else {
                received(frame);
            }
        }

        @Override
        public void viewAccepted(View view) {
            if (closed.get()) {
                // GMS has handed the view to MERGE3 before, which begins again with each.
                stopMerging();
            }
            views.increment();
            if (view instanceof MergeView) {
                merges.increment();
                // Each part has missed what the others told.
                peerListens();
            }
            LOG.info("group {}: {}", settings.cluster(), view);
        }
    }
}
