package dev.tandemkv.adapters.http;

import dev.tandemkv.catalog.BadRequestException;
import java.util.List;

/**
 * The peers of a replica channel, as a selection service lets its clients change them. Implemented by whatever connects replicas;
 * thread-safe.
 */
public interface ReplicaPeers {

    /**
     * Begins to follow a peer.
     *
     * @return false if it is followed already
     * @throws BadRequestException if the endpoint is none that the channel understands
     */
    boolean register(String endpoint);

    /**
     * Stops following a peer.
     *
     * @return false if it is not followed
     */
    boolean deregister(String endpoint);

    /** The endpoints of all peers, sorted. */
    List<String> endpoints();
}
