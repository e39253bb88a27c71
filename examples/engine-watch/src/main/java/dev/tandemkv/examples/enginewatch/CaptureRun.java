package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.adapters.enginewire.WireDecoder;
import dev.tandemkv.adapters.enginewire.WireFormatException;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.DropReason;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.EventBatch.Continuity;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Prints what a capture says. Each source is a worker with its number. Live messages go through the listener, the feed and the index of a
 * gateway; their events are printed when the feed applies them, in the order of their numbers and each batch once. Replies to replay requests
 * are what the engine would answer: where a live batch is missing and one of them has it, it comes from there.
 */
final class CaptureRun {

    private final CaptureFile file;
    private final EngineFamily family;
    private final @Nullable Geometry told;
    private final EventLines lines;
    private final PrintWriter err;

    private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());
    private final VirtualTime time = new VirtualTime();
    private final PrefixIndex index = PrefixIndex.builder().build();
    private final IndexFeed feed = IndexFeed.builder(index, time, time).build();
    private final Map<Integer, Geometry> seen = new TreeMap<>();
    private final Map<Integer, EngineListener> listeners = new TreeMap<>();
    private final Map<Integer, CapturedReplays> replays = new TreeMap<>();
    private long live;
    private long replies;
    private long taken;
    private long malformed;

    /** @param told the geometry, or {@code null} to take that of each source's first store */
    CaptureRun(CaptureFile file, EngineFamily family, @Nullable Geometry told, PrintWriter out, PrintWriter err) {
        this.file = file;
        this.family = family;
        this.told = told;
        this.lines = new EventLines(out);
        this.err = err;
    }

    /** @return whether every line was in the format */
    boolean run() throws IOException {
        file.read(new Survey());
        replays.values().forEach(CapturedReplays::rewind);
        file.read(new Printing());
        replays.forEach((source, answers) -> take(source, answers.behind()));
        summary();
        feed.close();
        return malformed == 0;
    }

    /** Looks what each source's blocks are like, and reports what cannot be read. */
    private final class Survey implements CaptureFile.Reader {
        @Override
        public void line(CaptureFile.Line line) {
            try {
                if (line.isLive()) {
                    live++;
                    LiveMessage message = LiveMessage.of(line.frames());
                    replaysOf(line.source()).live(message.sequence());
                    look(line.source(), message.payload());
                } else if (line.isReply()) {
                    replies++;
                    ReplayMessage.Data reply = replaysOf(line.source()).add(line.frames());
                    if (reply != null) {
                        look(line.source(), reply.payload());
                    }
                }
            } catch (WireFormatException e) {
                err.println("line " + line.number() + ": message cannot be read: " + e.getMessage());
            }
        }

        private void look(int source, byte[] payload) {
            WireBatch batch = decoder.decode(payload);
            Geometry.shownBy(batch).ifPresent(shown -> seen.putIfAbsent(source, shown));
        }

        @Override
        public void malformed(int number, String why) {
            malformed++;
            err.println("line " + number + ": not in the format: " + why);
        }
    }

    private final class Printing implements CaptureFile.Reader {
        @Override
        public void line(CaptureFile.Line line) {
            if (line.isLive()) {
                int source = line.source();
                EngineListener listener = listeners.computeIfAbsent(source, CaptureRun.this::listener);
                listener.live(line.frames()).ifPresent(batch -> live(source, batch));
            }
        }

        private void live(int source, EventBatch batch) {
            CapturedReplays answers = replaysOf(source);
            if (answers.isAnotherLife(batch.sequence())) {
                take(source, answers.behind());
            }
            answers.live(batch.sequence());
            take(source, answers.missing());
            feed.offer(printing(batch));
        }

        @Override
        public void malformed(int number, String why) {
            // Reported by the survey.
        }
    }

    private CapturedReplays replaysOf(int source) {
        return replays.computeIfAbsent(source, any -> new CapturedReplays());
    }

    /** What was not received live. */
    private void take(int source, List<ReplayMessage.Data> replies) {
        if (!replies.isEmpty()) {
            EngineListener listener = listeners.computeIfAbsent(source, this::listener);
            replies.forEach(reply -> listener.replayed(reply).map(this::taking).ifPresent(feed::offer));
        }
    }

    private EventBatch taking(EventBatch batch) {
        taken++;
        return printing(batch);
    }

    private EngineListener listener(int source) {
        Geometry geometry = told != null ? told : seen.getOrDefault(source, Geometry.USUAL);
        WorkerRank rank = WorkerRank.of(source);
        feed.register(rank, FeedSource.builder().traits(family.traits()).build());
        return new EngineListener(NormalizerConfig.of(rank, geometry.hasher(), family), null, WireLimits.defaults());
    }

    private EventBatch printing(EventBatch batch) {
        return batch instanceof EventBatch.Deferred deferred
                ? new EventBatch.Deferred(
                        deferred.rank(),
                        deferred.sequence(),
                        deferred.timestamp(),
                        continuity -> print(deferred, continuity))
                : batch;
    }

    private List<KvEvent> print(EventBatch.Deferred batch, Continuity continuity) {
        List<KvEvent> events = batch.read(continuity);
        events.forEach(event -> lines.print(batch.rank(), batch.sequence(), event));
        return events;
    }

    private void summary() {
        err.println(live + " live messages, " + lines.printed() + " events printed; " + taken + " batches from "
                + replies + " replies to replay requests; engine " + Names.of(family));
        listeners.keySet().forEach(source -> {
            Geometry geometry = told != null ? told : seen.getOrDefault(source, Geometry.USUAL);
            err.println("source " + source + ": block size " + geometry.blockSize() + ", look-ahead "
                    + geometry.lookahead()
                    + (told == null && !seen.containsKey(source) ? " (no store shows it; --block-size tells it)" : ""));
        });
        for (RankStatus rank : feed.ranks()) {
            if (rank.cursor().isPresent()) {
                err.println("worker " + rank.rank() + ": " + index.blocks(rank.rank()) + " blocks at the end, "
                        + Names.of(rank.exactness()));
            }
        }
        dropped().forEach((reason, count) -> err.println("left out: " + count + ' ' + reason.label()));
    }

    private Map<DropReason, Long> dropped() {
        Map<DropReason, Long> all = new EnumMap<>(DropReason.class);
        listeners
                .values()
                .forEach(listener -> listener.stats()
                        .normalizer()
                        .dropped()
                        .forEach((reason, count) -> all.merge(reason, count, Long::sum)));
        return all;
    }
}
