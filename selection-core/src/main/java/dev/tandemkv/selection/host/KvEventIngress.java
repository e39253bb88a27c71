package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.RankStatus;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Brings the engines' cache events into the indexes of a core. The defaults do nothing: for hosts that feed the indexes themselves.
 *
 * <p>Calls come from whoever changes membership, one at a time, and may do input and output.
 */
public interface KvEventIngress {

    /** For hosts that feed the indexes themselves. */
    KvEventIngress NONE = new KvEventIngress() {};

    /**
     * Divides the workers among several ingresses, each with its own thread and sockets: for fleets whose events one thread cannot read. A worker
     * belongs to the same one for ever, by a hash of its id. The host that lends them closes them.
     *
     * @param ingresses at least one; all listen, or none does
     * @throws IllegalArgumentException if there is none, or some listen and others do not
     */
    static KvEventIngress spread(List<? extends KvEventIngress> ingresses) {
        return new SpreadIngress(ingresses);
    }

    /** A partition was made; called once for each, before its first worker. */
    default void open(PartitionKey partition, int blockSize, PrefixIndex index) {}

    /** Whether the core is to require and reconcile event sources. */
    default boolean listens() {
        return false;
    }

    /** What a worker lacks for its events to be followed, as reasons; empty if nothing. Only asked of an ingress that listens. */
    default List<String> missingMetadata(WorkerSpec spec) {
        return List.of();
    }

    /**
     * Follows a worker that becomes, or stays, schedulable. What is retained is decided from the live feeds, not from {@code previous}. An
     * exception leaves the worker incomplete with its message.
     *
     * @param previous the last schedulable metadata in the same partition, or {@code null}
     * @param spec the present metadata
     */
    default void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {}

    /** Stops following a worker that leaves. Called whether the ingress listens or not. */
    default void detach(WorkerSpec spec) {}

    /**
     * What the feed behind a rank says of it: how far its picture is exact, and what a selection should believe. Asked at most once a
     * second for each rank, on a thread that selects; answers from what it knows, without waiting.
     *
     * @return empty where there is no such feed
     */
    default Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
        return Optional.empty();
    }
}
