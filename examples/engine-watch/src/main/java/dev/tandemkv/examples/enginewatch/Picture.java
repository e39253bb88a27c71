package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.neutral.DropReason;
import dev.tandemkv.adapters.enginewire.neutral.ListenerStats;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerStats;
import dev.tandemkv.adapters.zmq.ListenerStatus;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.IndexStats;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.FeedStats;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.hash.BlockHashes;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;

/** What is known of the engines at one moment, as lines of text. Touched by one thread. */
final class Picture {

    private final String title;
    private final List<LiveWatch.Target> targets;
    private final LiveWatch.Settings settings;
    private final BlockHashes prompt;
    private final ZmqKvEventIngress ingress;
    private final IndexFeed feed;
    private final PrefixIndex index;
    private final Incidents incidents;
    private final Clock clock;
    private final OverlapScores scores = OverlapScores.create();

    Picture(
            String title,
            List<LiveWatch.Target> targets,
            LiveWatch.Settings settings,
            BlockHashes prompt,
            ZmqKvEventIngress ingress,
            IndexFeed feed,
            PrefixIndex index,
            Incidents incidents,
            Clock clock) {
        this.title = title;
        this.targets = targets;
        this.settings = settings;
        this.prompt = prompt;
        this.ingress = ingress;
        this.feed = feed;
        this.index = index;
        this.incidents = incidents;
        this.clock = clock;
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("Tandem KV engine watch: " + title);
        lines.add("");
        ranks(lines);
        lines.add("");
        hints(lines);
        lines.add("losses   " + losses(feed.stats(), listeners()));
        lines.add("left out " + leftOut());
        List<String> happened = incidents.latest();
        if (!happened.isEmpty()) {
            lines.add("");
            lines.addAll(happened);
        }
        return lines;
    }

    // ---- one line per rank

    private void ranks(List<String> lines) {
        IndexStats stats = index.stats();
        long[] locals = prompt.locals();
        index.findTiered(locals, locals.length, scores);
        boolean workers =
                targets.stream().map(LiveWatch.Target::worker).distinct().count() > 1;
        boolean asked = locals.length > 0;
        lines.add(row(
                workers ? "worker" : "rank",
                "blocks",
                "tokens",
                "last batch",
                "age",
                asked ? "prompt of " + locals.length : "",
                "state"));
        for (RankStatus status : feed.ranks()) {
            WorkerRank rank = status.rank();
            long blocks = stats.blocksByRank().getOrDefault(rank, 0L);
            lines.add(row(
                    Long.toUnsignedString(workers ? rank.workerId() : rank.rank()),
                    String.format(Locale.ROOT, "%,d", blocks),
                    String.format(
                            Locale.ROOT, "%,d", blocks * settings.geometry().blockSize()),
                    status.cursor().isPresent()
                            ? Long.toUnsignedString(status.cursor().getAsLong())
                            : "none",
                    age(status.timestamp()),
                    asked ? hit(rank, locals.length) : "",
                    state(status)));
        }
    }

    private static String row(
            String rank, String blocks, String tokens, String last, String age, String hit, String state) {
        String numbers = String.format(Locale.ROOT, "%-6s %10s %12s %11s %7s", rank, blocks, tokens, last, age);
        return numbers + (hit.isEmpty() ? "" : String.format(Locale.ROOT, "   %-14s", hit)) + "   " + state;
    }

    /** How long ago the last batch was made, by the engine's clock and ours. */
    private String age(double timestamp) {
        if (Double.isNaN(timestamp)) {
            return "";
        }
        long seconds = Math.round(clock.millis() / 1_000.0 - timestamp);
        return seconds < 120 ? Math.max(0, seconds) + " s" : seconds / 60 + " min";
    }

    private String state(RankStatus status) {
        if (status.cursor().isEmpty() && status.exactness().kind() != Exactness.Kind.DEGRADED) {
            return isUnconnected(status.rank()) ? "not connected yet" : "nothing heard yet";
        }
        return Names.of(status.exactness()) + (status.held() > 0 ? ", " + status.held() + " batches waiting" : "");
    }

    /** On a bound endpoint the engines connect, and nobody knows which of them have. */
    private boolean isUnconnected(WorkerRank rank) {
        return targets.stream()
                .filter(target -> target.endpoint() != null
                        && LiveWatch.id(target) == rank.workerId()
                        && target.rank() == rank.rank())
                .flatMap(target -> ingress.listenerOf(rank).stream())
                .anyMatch(listener -> listener.connections() == 0);
    }

    private String hit(WorkerRank rank, int blocks) {
        int slot = index.slotOf(rank);
        if (slot < 0) {
            return "0";
        }
        StringJoiner parts = new StringJoiner(", ");
        int device = scores.blocks(slot);
        parts.add(device + " (" + 100 * device / blocks + " %)");
        for (Tier tier : Tier.values()) {
            if (tier != Tier.DEVICE && scores.blocks(slot, tier) > 0) {
                parts.add("+" + scores.blocks(slot, tier) + ' ' + tier.name().toLowerCase(Locale.ROOT));
            }
        }
        return parts.toString();
    }

    // ---- what is missing

    private void hints(List<String> lines) {
        if (feed.ranks().stream().allMatch(rank -> rank.cursor().isEmpty())) {
            lines.add(
                    "Nothing has been heard: is the endpoint right, and does the engine publish KV events? Engines are silent while");
            lines.add("nothing enters or leaves their cache; --replay tells what was published before.");
        }
        if (feed.ranks().stream().anyMatch(rank -> rank.exactness().kind() == Exactness.Kind.DEGRADED)) {
            lines.add("A picture that is DEGRADED stays so until the engine clears its cache or restarts.");
        }
        if (dropped().containsKey(DropReason.CONFLICTING_BLOCK_SIZE)) {
            lines.add("Blocks of another size are announced than the "
                    + settings.geometry().blockSize() + " tokens of --block-size: nothing of those is known.");
        }
        if (dropped().containsKey(DropReason.CONFLICTING_LOOKAHEAD)) {
            lines.add("Blocks are announced with other look-ahead tokens: try with"
                    + (settings.geometry().lookahead() > 0 ? "out" : "") + " --eagle.");
        }
        if (feed.stats().get(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED) > 0) {
            lines.add(
                    "The engine's block hashes do not depend on what precedes a block (SGLang up to 0.5.5, or --engine is wrong):");
            lines.add("its cache cannot be followed.");
        }
    }

    private static String losses(FeedStats feed, ListenerStats listeners) {
        StringJoiner parts = new StringJoiner(", ");
        count(parts, feed.get(FeedCounter.GAPS), "gaps");
        count(parts, feed.get(FeedCounter.REPLAYS), "replays");
        count(parts, feed.get(FeedCounter.RECOVERY_FAILURES), "failed replays");
        count(parts, feed.get(FeedCounter.LOST_BATCHES), "batches given up");
        count(parts, feed.get(FeedCounter.RESTARTS), "restarts");
        count(parts, listeners.undecodable(), "unreadable payloads");
        count(parts, listeners.frameAnomalies(), "malformed messages");
        count(parts, listeners.foreignTopics(), "messages of other topics");
        count(parts, feed.get(FeedCounter.STALE), "repeated batches");
        count(parts, feed.get(FeedCounter.ORPHAN_EVENTS), "stores without parent");
        return parts.length() == 0 ? "none" : parts.toString();
    }

    private String leftOut() {
        StringJoiner parts = new StringJoiner(", ");
        dropped().forEach((reason, count) -> count(parts, count, reason.label()));
        return parts.length() == 0 ? "none" : parts.toString();
    }

    private static void count(StringJoiner parts, long count, String what) {
        if (count > 0) {
            parts.add(what + " " + count);
        }
    }

    private Map<DropReason, Long> dropped() {
        Map<DropReason, Long> all = new EnumMap<>(DropReason.class);
        all.putAll(listeners().normalizer().dropped());
        return all;
    }

    private ListenerStats listeners() {
        return targets.stream()
                .map(target -> ingress.listenerOf(new WorkerRank(LiveWatch.id(target), target.rank())))
                .flatMap(Optional::stream)
                .map(ListenerStatus::messages)
                .reduce(Picture::sum)
                .orElseThrow();
    }

    private static ListenerStats sum(ListenerStats a, ListenerStats b) {
        Map<DropReason, Long> dropped = new EnumMap<>(DropReason.class);
        dropped.putAll(a.normalizer().dropped());
        b.normalizer().dropped().forEach((reason, count) -> dropped.merge(reason, count, Long::sum));
        return new ListenerStats(
                a.foreignTopics() + b.foreignTopics(),
                a.frameAnomalies() + b.frameAnomalies(),
                a.undecodable() + b.undecodable(),
                a.refusedRanks() + b.refusedRanks(),
                new NormalizerStats(
                        a.normalizer().batches() + b.normalizer().batches(),
                        a.normalizer().emitted() + b.normalizer().emitted(),
                        dropped));
    }
}
