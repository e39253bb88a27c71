package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The cache index could not be asked, and the configuration says to fail then. Kind {@link SelectionException.Kind#INDEX_OFFLINE}. */
public final class IndexOfflineException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final transient PartitionKey partition;

    public IndexOfflineException(PartitionKey partition, @Nullable Throwable cause) {
        super(Kind.INDEX_OFFLINE, "cache index of " + partition + " is offline", cause, StackTrace.OMITTED);
        this.partition = Objects.requireNonNull(partition, "partition");
    }

    public PartitionKey partition() {
        return partition;
    }
}
