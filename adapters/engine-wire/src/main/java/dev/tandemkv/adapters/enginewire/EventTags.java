package dev.tandemkv.adapters.enginewire;

import org.jspecify.annotations.Nullable;

/** Names of the events, as vLLM and SGLang write them. */
final class EventTags {
    static final String STORED = "BlockStored";
    static final String REMOVED = "BlockRemoved";
    static final String CLEARED = "AllBlocksCleared";
    static final String IGNORED = "Ignored";

    private EventTags() {}

    /** The event of a tag that has no fields, or {@code null} if the tag is unknown. */
    static @Nullable WireEvent withoutFields(String tag) {
        return switch (tag) {
            case CLEARED -> new WireEvent.AllBlocksCleared();
            case IGNORED -> new WireEvent.Ignored();
            default -> null;
        };
    }
}
