package dev.tandemkv.examples.picker;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.selection.host.ReplicaPeers;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The other pickers, as the addresses behind a name: those that appear are listened to, those that disappear no more. A lookup that fails
 * changes nothing.
 */
final class PeerService implements AutoCloseable {

    private final WorkerCatalogSource addresses;
    private final ReplicaPeers peers;
    private final String own;
    /** What the name stands for; peers that others registered are not this class's. Touched by one snapshot after the other. */
    private final Set<String> found = new TreeSet<>();

    private volatile boolean closed;

    private PeerService(WorkerCatalogSource addresses, ReplicaPeers peers, String own) {
        this.addresses = addresses;
        this.peers = peers;
        this.own = own;
    }

    /**
     * Begins to follow.
     *
     * @param addresses a source whose workers are the pickers, with the replica port; closed with this
     * @param own {@code host:port} of this picker, which is behind the name too
     */
    static PeerService follow(WorkerCatalogSource addresses, ReplicaPeers peers, String own) {
        PeerService service = new PeerService(addresses, peers, own);
        service.next();
        return service;
    }

    private void next() {
        addresses.nextSnapshot().whenComplete((snapshot, failure) -> {
            if (!closed && snapshot != null && snapshot.isPresent()) {
                apply(snapshot);
                next();
            }
        });
    }

    private void apply(Optional<CatalogSnapshot> snapshot) {
        Set<String> wanted = new TreeSet<>();
        for (WorkerSpec picker : snapshot.orElseThrow().workers()) {
            String address = address(picker.endpoint());
            if (address != null && !address.equals(own)) {
                wanted.add("tcp://" + address);
            }
        }
        for (String gone : List.copyOf(found)) {
            if (!wanted.contains(gone)) {
                found.remove(gone);
                peers.deregister(gone);
            }
        }
        for (String fresh : wanted) {
            if (found.add(fresh)) {
                peers.register(fresh);
            }
        }
    }

    private static @Nullable String address(@Nullable String endpoint) {
        return endpoint == null ? null : endpoint.replace("http://", "");
    }

    @Override
    public void close() {
        closed = true;
        addresses.close();
    }
}
