package dev.tandemkv.adapters.extproc;

import com.fasterxml.jackson.core.JsonFactory;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the exchanges of one picker share. Thread-safe.
 *
 * @param permits one for each request between its headers and its decision
 * @param room for the bodies of requests
 * @param chance makes booking ids
 */
record PickerParts(
        PickerRouting routing,
        PoolEndpoints endpoints,
        Tokenizer tokenizer,
        ModelRoutes models,
        PickerSettings settings,
        PickerObserver observer,
        Ticker ticker,
        Scheduler scheduler,
        Semaphore permits,
        BodyRoom room,
        Chance chance,
        JsonFactory json) {

    private static final Logger LOG = LoggerFactory.getLogger(PickerParts.class);

    /** Tells the observer, whose failures are nobody else's. */
    void tell(Consumer<PickerObserver> what) {
        try {
            what.accept(observer);
        } catch (RuntimeException e) {
            LOG.warn("The picker's observer failed", Unquoted.of(e));
        }
    }
}
