package dev.tandemkv.selection.host;

import java.util.Objects;

/** Where a core's knowledge of the caches lies. */
public sealed interface KvIndexSource permits KvIndexSource.Owned, KvIndexSource.Remote {

    /**
     * The core keeps an index per partition.
     *
     * @param ingress what brings the engines' events into it
     */
    record Owned(KvEventIngress ingress) implements KvIndexSource {
        public Owned {
            Objects.requireNonNull(ingress, "ingress");
        }
    }

    /**
     * Another process is asked. Workers need no event endpoints then, and nothing is dumped.
     *
     * @param client asks it
     */
    record Remote(RemoteIndex client) implements KvIndexSource {
        public Remote {
            Objects.requireNonNull(client, "client");
        }
    }

    /** The core keeps the index; the host feeds it. */
    static KvIndexSource owned() {
        return new Owned(KvEventIngress.NONE);
    }

    static KvIndexSource owned(KvEventIngress ingress) {
        return new Owned(ingress);
    }

    static KvIndexSource remote(RemoteIndex client) {
        return new Remote(client);
    }
}
