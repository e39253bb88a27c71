package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.BadRequestException;
import java.util.List;

/** The replicas that a channel listens to, by endpoint, which may change while it runs. Thread-safe. */
public interface ReplicaPeers {

    /**
     * Listens to a peer from now on.
     *
     * @return false if it did before
     * @throws BadRequestException if that is no endpoint, or there are too many
     */
    boolean register(String endpoint);

    /**
     * Listens to a peer no more. What was learned from it ends by its time.
     *
     * @return false if nobody listened to it
     */
    boolean deregister(String endpoint);

    /** The endpoints, sorted. */
    List<String> endpoints();
}
