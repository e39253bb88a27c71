package dev.tandemkv.adapters.http.replay;

import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.selection.host.KvEventIngress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Event frames by hand instead of by socket: a message "published" at an endpoint reaches at once whoever follows that endpoint. What a
 * worker must have is what the ZeroMQ ingress asks for.
 */
public final class FrameIngress implements KvEventIngress {

    /** What is known of a publisher before it speaks. */
    public record Publisher(EngineFamily family, String topic) {}

    private record Followed(PartitionKey partition, String endpoint, EngineListener listener) {}

    private final VirtualTime time;
    private final Map<String, Publisher> publishers;
    private final Map<PartitionKey, IndexFeed> feeds = new ConcurrentHashMap<>();
    private final Map<WorkerRank, Followed> followed = new ConcurrentHashMap<>();

    public FrameIngress(VirtualTime time, Map<String, Publisher> publishers) {
        this.time = time;
        this.publishers = publishers;
    }

    /** Delivers one message to everybody who follows the endpoint. */
    public void publish(String endpoint, List<byte[]> frames) {
        Map<WorkerRank, Followed> listeners = new TreeMap<>(WorkerRank.UNSIGNED_ORDER);
        listeners.putAll(followed);
        listeners.forEach((rank, each) -> {
            if (each.endpoint().equals(endpoint)) {
                IndexFeed feed = feeds.get(each.partition());
                each.listener().live(frames).ifPresent(feed::offer);
            }
        });
    }

    @Override
    public boolean listens() {
        return true;
    }

    @Override
    public void open(PartitionKey partition, int blockSize, PrefixIndex index) {
        feeds.computeIfAbsent(
                partition, key -> IndexFeed.builder(index, time, time).build());
    }

    @Override
    public List<String> missingMetadata(WorkerSpec spec) {
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < spec.rankCount(); i++) {
            int rank = spec.startRank() + i;
            if (endpoint(spec, rank) == null) {
                reasons.add("kv-events endpoint missing for rank " + Integer.toUnsignedString(rank));
            }
        }
        if (spec.replayEndpoint() != null && spec.rankCount() > 1) {
            reasons.add("replay endpoint with data_parallel_size > 1");
        }
        return reasons;
    }

    private static @Nullable String endpoint(WorkerSpec spec, int rank) {
        String endpoint = spec.kvEventsEndpointOf(rank);
        return endpoint == null || endpoint.isEmpty() ? null : endpoint;
    }

    @Override
    public void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {
        List<String> endpoints = new ArrayList<>();
        for (int i = 0; i < spec.rankCount(); i++) {
            String endpoint = endpoint(spec, spec.startRank() + i);
            requireConnectable(endpoint);
            endpoints.add(endpoint);
        }
        followed.keySet().stream()
                .filter(rank -> rank.workerId() == spec.workerId() && !spec.hasRank(rank.rank()))
                .toList()
                .forEach(this::forget);
        for (int i = 0; i < spec.rankCount(); i++) {
            follow(spec, new WorkerRank(spec.workerId(), spec.startRank() + i), endpoints.get(i));
        }
    }

    private static void requireConnectable(@Nullable String endpoint) {
        URI uri = endpoint == null ? null : URI.create(endpoint);
        if (uri == null || !"tcp".equals(uri.getScheme()) || uri.getPort() < 0) {
            throw new BadRequestException("kv_events_endpoint", endpoint, "an endpoint that can be connected to");
        }
    }

    private void follow(WorkerSpec spec, WorkerRank rank, String endpoint) {
        Followed present = followed.get(rank);
        if (present != null
                && present.endpoint().equals(endpoint)
                && present.partition().equals(spec.partition())) {
            return;
        }
        if (present != null) {
            forget(rank);
        }
        Publisher publisher = publishers.getOrDefault(endpoint, new Publisher(EngineFamily.UNKNOWN, ""));
        BlockHasher hasher = BlockHasher.ofBlockSize(spec.blockSize()).withLookahead(spec.eagle() ? 1 : 0);
        EngineListener listener = new EngineListener(
                NormalizerConfig.of(rank, hasher, publisher.family()), publisher.topic(), WireLimits.defaults());
        followed.put(rank, new Followed(spec.partition(), endpoint, listener));
        feeds.get(spec.partition())
                .register(
                        rank,
                        FeedSource.builder().traits(publisher.family().traits()).build());
    }

    private void forget(WorkerRank rank) {
        Followed gone = followed.remove(rank);
        feeds.get(gone.partition()).removeRank(rank);
    }

    @Override
    public void detach(WorkerSpec spec) {
        followed.keySet().removeIf(rank -> rank.workerId() == spec.workerId());
        IndexFeed feed = feeds.get(spec.partition());
        if (feed != null) {
            feed.removeWorker(spec.workerId());
        }
    }
}
