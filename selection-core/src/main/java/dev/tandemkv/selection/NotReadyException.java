package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;

/** The partition has no schedulable worker. Kind {@link SelectionException.Kind#NOT_READY}. */
public final class NotReadyException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final transient PartitionKey partition;

    public NotReadyException(PartitionKey partition) {
        super(Kind.NOT_READY, "no schedulable worker in " + partition, null, StackTrace.OMITTED);
        this.partition = Objects.requireNonNull(partition, "partition");
    }

    public PartitionKey partition() {
        return partition;
    }
}
