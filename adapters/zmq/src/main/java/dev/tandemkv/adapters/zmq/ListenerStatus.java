package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.neutral.ListenerStats;
import dev.tandemkv.indexer.dump.DumpRestore;
import dev.tandemkv.indexer.event.ListenerLifecycle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank's listener is. Immutable.
 *
 * @param state of the present attempt
 * @param failure why it failed; {@code null} in every other state
 * @param connections how often the connection to the publisher was made; always 0 on the shared endpoint, where engines connect
 * @param restored what became of a peer's dump of the rank, or {@code null} if no peer had any
 * @param messages what became of the messages
 */
public record ListenerStatus(
        ListenerLifecycle.State state,
        @Nullable String failure,
        long connections,
        DumpRestore.@Nullable Outcome restored,
        ListenerStats messages) {

    public ListenerStatus {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(messages, "messages");
    }
}
