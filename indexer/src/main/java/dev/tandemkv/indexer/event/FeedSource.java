package dev.tandemkv.indexer.event;

import dev.tandemkv.indexer.SourceTraits;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one rank's publisher. Immutable.
 *
 * @param traits what its stores mean to the index
 * @param replay where lost batches are asked for again, or {@code null}
 * @param resync where the whole content is asked for, or {@code null}
 * @param firstSequence unsigned number of a publisher's first batch; default 0, some sources 1
 * @param catchup when what was published before this feed is asked for
 * @param incarnation identity of the running engine process, or {@code null} if unknown
 */
public record FeedSource(
        SourceTraits traits,
        @Nullable ReplaySource replay,
        @Nullable ResyncSource resync,
        long firstSequence,
        Catchup catchup,
        @Nullable String incarnation) {

    /** When a replay from the start is asked for, where the source has one. */
    public enum Catchup {
        /** As soon as the rank is registered or gains a replay source, once per incarnation: prefixes cached before are known without traffic. */
        AT_ONCE,
        /** When the first live batch shows by its number that others came before it. */
        ON_FIRST_BATCH
    }

    public FeedSource {
        Objects.requireNonNull(traits, "traits");
        Objects.requireNonNull(catchup, "catchup");
    }

    /** A publisher of an unknown family that can send nothing again. */
    public static FeedSource liveOnly() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.traits = traits;
        builder.replay = replay;
        builder.resync = resync;
        builder.firstSequence = firstSequence;
        builder.catchup = catchup;
        builder.incarnation = incarnation;
        return builder;
    }

    /** Describes a publisher. Not thread-safe. */
    public static final class Builder {
        private SourceTraits traits = SourceTraits.DEFAULT;
        private @Nullable ReplaySource replay;
        private @Nullable ResyncSource resync;
        private long firstSequence;
        private Catchup catchup = Catchup.AT_ONCE;
        private @Nullable String incarnation;

        private Builder() {}

        /** Default {@link SourceTraits#DEFAULT}. */
        public Builder traits(SourceTraits value) {
            traits = value;
            return this;
        }

        /** Default none. */
        public Builder replay(@Nullable ReplaySource value) {
            replay = value;
            return this;
        }

        /** Default none. */
        public Builder resync(@Nullable ResyncSource value) {
            resync = value;
            return this;
        }

        /** Default 0. */
        public Builder firstSequence(long value) {
            firstSequence = value;
            return this;
        }

        /** Default {@link Catchup#AT_ONCE}. */
        public Builder catchup(Catchup value) {
            catchup = value;
            return this;
        }

        /** Default unknown. */
        public Builder incarnation(@Nullable String value) {
            incarnation = value;
            return this;
        }

        public FeedSource build() {
            return new FeedSource(traits, replay, resync, firstSequence, catchup, incarnation);
        }
    }
}
