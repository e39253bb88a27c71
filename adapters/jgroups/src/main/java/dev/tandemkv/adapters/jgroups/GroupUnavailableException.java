package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.catalog.SelectionException;
import java.net.InetSocketAddress;

/** A member could not bind its address or join its group. Kind {@link dev.tandemkv.catalog.SelectionException.Kind#UNAVAILABLE}. */
public final class GroupUnavailableException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String cluster;
    private final InetSocketAddress bind;

    GroupUnavailableException(GroupSettings settings, Throwable cause) {
        super(
                Kind.UNAVAILABLE,
                "cluster " + settings.cluster() + " at " + settings.bind() + ": could not be joined",
                cause);
        cluster = settings.cluster();
        bind = settings.bind();
    }

    /** The group that was to be joined. */
    public String cluster() {
        return cluster;
    }

    /** Where this member was to listen. */
    public InetSocketAddress bind() {
        return bind;
    }
}
