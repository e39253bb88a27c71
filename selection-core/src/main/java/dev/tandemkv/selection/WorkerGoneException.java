package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;

/** The worker stopped being schedulable; another attempt finds another one. Kind {@link SelectionException.Kind#WORKER_GONE}. */
public final class WorkerGoneException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final transient WorkerRank worker;

    public WorkerGoneException(WorkerRank worker) {
        super(Kind.WORKER_GONE, "worker " + worker + " is no longer schedulable", null, StackTrace.OMITTED);
        this.worker = Objects.requireNonNull(worker, "worker");
    }

    public WorkerRank worker() {
        return worker;
    }
}
