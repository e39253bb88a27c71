package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.SourceTraits.FullReports;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the host knows of a rank's publisher beyond its endpoints. Immutable.
 *
 * @param family whose events they are; default {@link EngineFamily#UNKNOWN}
 * @param fullReports whether it may repeat held blocks from the root; default {@link FullReports#POSSIBLE}
 * @param firstSequence unsigned number of its first batch, 0 or 1; default 0
 * @param topic its whole topic, or {@code null} to take any; required where many engines share a socket
 */
public record EventSource(
        EngineFamily family,
        FullReports fullReports,
        long firstSequence,
        @Nullable String topic) {

    /** A publisher of which nothing is known. */
    public static final EventSource UNKNOWN = new EventSource(EngineFamily.UNKNOWN, FullReports.POSSIBLE, 0, null);

    public EventSource {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(fullReports, "fullReports");
    }

    /** A publisher of a family, of which nothing more is known. */
    public static EventSource of(EngineFamily family) {
        return new EventSource(family, FullReports.POSSIBLE, 0, null);
    }

    /** The same publisher under a topic. */
    public EventSource withTopic(String name) {
        return new EventSource(family, fullReports, firstSequence, name);
    }

    /** Says what is known of each rank's publisher. */
    @FunctionalInterface
    public interface Lookup {
        EventSource of(WorkerSpec spec, int rank);
    }
}
