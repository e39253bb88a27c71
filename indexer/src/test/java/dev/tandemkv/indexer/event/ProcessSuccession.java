package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One rank's publishers, each a process that lives until the next takes its place, and a feed that listens to them; everything between them
 * takes any time. What holds of the real thing holds here:
 *
 * <ul>
 *   <li>A connection delivers in order. Its end is told at any time before the first message of the next, also ahead of messages that are
 *       under way; so is the next one's beginning, after them. Live messages are lost, garbled, and not sent at all while nobody is connected.
 *   <li>A request is answered by whichever process lives when it arrives, from the batches that it still has then. The answer takes its time,
 *       also beyond that process' life. It can lack batches in the middle, or the end with its marker, or not come at all.
 * </ul>
 *
 * <p>With every step that leaves nothing under way, a rank that is exact must show what the present process holds, unless the last live
 * message was lost and nothing can tell.
 */
final class ProcessSuccession implements ReplaySource {

    enum Replays {
        /** Every request is answered whole and in time. */
        RELIABLE,
        /** Answers are late, cut, lossy or do not come, and processes may have forgotten what is wanted. */
        FAULTY
    }

    private static final WorkerRank RANK = WorkerRank.of(1);
    private static final int BLOCKS = 300;

    private final VirtualTime time = new VirtualTime();
    private final PrefixIndex index = PrefixIndex.builder().build();
    private final IndexFeed feed;
    private final SeededRandom random;
    private final Replays replays;
    private final long first;
    private final List<String> story = new ArrayList<>();

    /** What is under way to the feed, in order. */
    private final ArrayDeque<Runnable> line = new ArrayDeque<>();

    private Process process;
    private double clock = 1000;

    /** Whether the present process' messages are sent. */
    private boolean connected;

    /** Whether the feed was told last that there is no connection. */
    private boolean toldOfLoss;

    /** The last live message was lost, or there was none yet and the past is not asked for: only the next one can tell. */
    private boolean unnoticed = true;

    private final FeedSource.Catchup catchup;
    private boolean heard;

    private boolean faulty = true;

    ProcessSuccession(long seed, Replays replays) {
        random = new SeededRandom(seed);
        this.replays = replays;
        first = random.nextInt(4) == 0 ? 1 : 0;
        process = new Process();
        feed = IndexFeed.builder(index, time, time)
                .config(FeedConfig.builder()
                        .maxHeld(random.nextInt(3) == 0 ? 3 : 1000)
                        .replayRounds(2 + random.nextInt(4))
                        .build())
                .build();
        catchup = random.nextBoolean() ? FeedSource.Catchup.AT_ONCE : FeedSource.Catchup.ON_FIRST_BATCH;
        publish(random.nextInt(6));
        feed.register(
                RANK,
                FeedSource.builder()
                        .replay(this)
                        .firstSequence(first)
                        .catchup(catchup)
                        .build());
        feed.interrupted(RANK);
        toldOfLoss = true;
        connect();
    }

    // ---- what happens

    /** Lets any things happen, one after the other. */
    void live(int steps) {
        for (int i = 0; i < steps; i++) {
            int dice = random.nextInt(20);
            if (dice < 7) {
                publish(1 + random.nextInt(3));
            } else if (dice < 12) {
                deliver(1 + random.nextInt(5));
            } else if (dice < 15) {
                pass(random.nextInt(random.nextInt(5) == 0 ? 20_000 : 300));
            } else if (dice == 15) {
                disconnect();
            } else if (dice == 16) {
                connect();
            } else if (dice == 17) {
                replace();
            } else {
                deliver(line.size());
            }
            checkIfQuiet();
        }
    }

    /** Faults end; what happened comes out. The last message always arrives: that it was lost would show only with the next. */
    void settle() {
        faulty = false;
        connect();
        for (int i = 0; i < 3; i++) {
            publish(1);
            deliver(line.size());
            pass(700_000);
        }
        checkIfQuiet();
    }

    /** The present process empties its cache. */
    void clear() {
        process.say(new KvEvent.Cleared());
    }

    private void publish(int batches) {
        for (int i = 0; i < batches; i++) {
            process.say();
        }
    }

    private void deliver(int messages) {
        for (int i = 0; i < messages && !line.isEmpty(); i++) {
            line.remove().run();
        }
    }

    private void pass(int millis) {
        tell(millis + " ms pass");
        time.advance(Duration.ofMillis(millis));
    }

    private void disconnect() {
        if (!connected) {
            return;
        }
        connected = false;
        tell("connection lost");
        Runnable told = () -> {
            tell("told of the loss");
            toldOfLoss = true;
            feed.interrupted(RANK);
        };
        if (random.nextInt(3) == 0 && !toldOfLoss && lineIsOfOneConnection()) {
            told.run();
        } else {
            line.add(told);
        }
    }

    /** No beginning of a connection is under way. */
    private boolean lineIsOfOneConnection() {
        return line.stream().noneMatch(Beginning.class::isInstance);
    }

    private void connect() {
        if (connected) {
            return;
        }
        connected = true;
        tell("connected to " + process);
        line.add(new Beginning());
    }

    private final class Beginning implements Runnable {
        @Override
        public void run() {
            tell("told of a connection");
            toldOfLoss = false;
            unnoticed = !heard && catchup == FeedSource.Catchup.ON_FIRST_BATCH;
            feed.reconnected(RANK);
        }
    }

    /** The process ends, and another one takes its place. It may have a past before it is heard. */
    private void replace() {
        disconnect();
        process = new Process();
        tell(process + " begins");
        if (random.nextBoolean()) {
            publish(random.nextInt(12));
        }
        if (random.nextBoolean()) {
            connect();
        }
    }

    private void checkIfQuiet() {
        boolean quiet = connected && line.isEmpty() && !toldOfLoss && !unnoticed;
        if (quiet && exactness().equals(Exactness.EXACT)) {
            assertThat(shown()).as(this::story).isEqualTo(truth());
        }
    }

    // ---- what is known

    Exactness exactness() {
        return feed.exactness(RANK).orElseThrow();
    }

    Set<Long> shown() {
        Set<Long> shown = new TreeSet<>();
        index.contents(RANK).ifPresent(contents -> {
            contents.stores()
                    .forEach(stored -> Arrays.stream(stored.externalHashes()).forEach(shown::add));
            Arrays.stream(contents.lacking()).forEach(shown::remove);
        });
        return shown;
    }

    Set<Long> truth() {
        return new TreeSet<>(process.held);
    }

    String story() {
        return String.join("\n", story);
    }

    private void tell(String what) {
        story.add(what + (feed == null ? "" : " [" + feed.status(RANK).orElse(null) + ']'));
    }

    // ---- the processes

    private int processes;

    private final class Process {
        private final int id = ++processes;
        private final List<EventBatch.Decoded> said = new ArrayList<>();
        private final Set<Long> held = new HashSet<>();
        private final int room =
                replays == Replays.RELIABLE || random.nextInt(3) == 0 ? Integer.MAX_VALUE : 1 + random.nextInt(8);

        void say() {
            List<Long> present = held.stream().sorted().toList();
            if (!present.isEmpty() && random.nextInt(4) == 0) {
                long gone = present.get(random.nextInt(present.size()));
                held.remove(gone);
                say(KvEvent.Removed.device(gone));
            } else {
                long block = 1 + random.nextInt(BLOCKS);
                held.add(block);
                say(FeedFixture.stored(null, block));
            }
        }

        void say(KvEvent event) {
            if (event instanceof KvEvent.Cleared) {
                held.clear();
            }
            EventBatch.Decoded batch = new EventBatch.Decoded(RANK, first + said.size(), clock++, List.of(event));
            said.add(batch);
            if (!connected) {
                tell(this + " says " + batch.sequence() + " to nobody");
                return;
            }
            int dice = faulty ? random.nextInt(12) : 11;
            if (dice == 0) {
                tell(this + " says " + batch.sequence() + ", lost");
                line.add(() -> unnoticed = true);
            } else if (dice == 1) {
                tell(this + " says " + batch.sequence() + ", garbled");
                line.add(() -> offer(new EventBatch.Undecodable(RANK, batch.sequence())));
            } else {
                tell(this + " says " + batch.sequence());
                line.add(() -> offer(batch));
            }
        }

        private void offer(EventBatch batch) {
            tell(batch.sequence() + " of " + this + " arrives");
            unnoticed = false;
            heard = true;
            feed.offer(batch);
        }

        List<EventBatch> ring(long from) {
            return said.stream()
                    .skip(Math.max(0L, (long) said.size() - room))
                    .filter(batch -> batch.sequence() >= from)
                    .map(EventBatch.class::cast)
                    .toList();
        }

        @Override
        public String toString() {
            return "P" + id;
        }
    }

    // ---- requests

    @Override
    public CompletionStage<ReplayReply> replay(WorkerRank rank, long from) {
        tell("asked from " + from);
        CompletableFuture<ReplayReply> reply = new CompletableFuture<>();
        after(() -> arrive(from, reply));
        return reply;
    }

    private void arrive(long from, CompletableFuture<ReplayReply> reply) {
        int dice = isFaulty() ? random.nextInt(8) : 7;
        if (dice == 0) {
            tell("request for " + from + " fails");
            reply.completeExceptionally(new IllegalStateException("nobody there"));
        } else if (dice > 1) {
            ReplayReply.Batches answer = answer(process.ring(from), dice);
            String by = process + " answers " + from + " with "
                    + answer.batches().stream().map(EventBatch::sequence).toList() + answer.end();
            tell(by);
            after(() -> {
                tell("arrives: " + by);
                reply.complete(answer);
            });
        }
    }

    private ReplayReply.Batches answer(List<EventBatch> batches, int dice) {
        List<EventBatch> lossy = new ArrayList<>(batches);
        if (dice == 2) {
            // Without end marker, anything at the end can be missing.
            lossy = lossy.subList(0, random.nextInt(lossy.size() + 1));
            return new ReplayReply.Batches(lossy, ReplayReply.End.SILENT);
        }
        if (dice == 3 && lossy.size() > 2) {
            // What is lost at the end although the marker comes, nothing can tell.
            lossy.remove(1 + random.nextInt(lossy.size() - 2));
        }
        return new ReplayReply.Batches(lossy, ReplayReply.End.MARKED);
    }

    private void after(Runnable work) {
        if (random.nextInt(3) == 0) {
            work.run();
        } else {
            boolean late = isFaulty() && random.nextInt(6) == 0;
            time.schedule(Duration.ofMillis(random.nextInt(late ? 12_000 : 200)), work);
        }
    }

    private boolean isFaulty() {
        return faulty && replays == Replays.FAULTY;
    }
}
