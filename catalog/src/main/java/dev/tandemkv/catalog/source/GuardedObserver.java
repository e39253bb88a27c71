package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRecord;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes everything on to a host's observer, logs what an operator should see, and ends the observer's exceptions here. */
final class GuardedObserver implements CatalogObserver {

    private static final Logger LOG = LoggerFactory.getLogger(CatalogReconciler.class);

    private final CatalogObserver observer;

    GuardedObserver(CatalogObserver observer) {
        this.observer = observer;
    }

    @Override
    public void upserted(WorkerRecord record) {
        tell(o -> o.upserted(record));
    }

    @Override
    public void removed(WorkerRecord record) {
        tell(o -> o.removed(record));
    }

    @Override
    public void failed(long workerId, SelectionException failure) {
        LOG.warn("Worker {} could not be reconciled: {}", Long.toUnsignedString(workerId), failure.getMessage());
        tell(o -> o.failed(workerId, failure));
    }

    @Override
    public void rejected(BadRequestException reason) {
        LOG.warn("A catalog snapshot was rejected and the membership stays as it is: {}", reason.getMessage());
        tell(o -> o.rejected(reason));
    }

    @Override
    public void sourceFailed(Throwable failure, Duration askedAgainIn) {
        LOG.warn("A catalog source failed and is asked again in {}", askedAgainIn, failure);
        tell(o -> o.sourceFailed(failure, askedAgainIn));
    }

    @Override
    public void heldBack(int present, int kept) {
        LOG.warn("A catalog snapshot keeps {} of {} workers and is put aside", kept, present);
        tell(o -> o.heldBack(present, kept));
    }

    @Override
    public void retrying(int workers) {
        tell(o -> o.retrying(workers));
    }

    private void tell(Consumer<CatalogObserver> event) {
        try {
            event.accept(observer);
        } catch (RuntimeException e) {
            LOG.warn("A catalog observer failed", e);
        }
    }
}
