package dev.tandemkv.adapters.extproc;

import com.fasterxml.jackson.core.JsonFactory;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.util.concurrent.Semaphore;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * What the exchanges of one picker share. Thread-safe.
 *
 * @param permits one for each request between its headers and its decision
 * @param ids booking ids that never repeat
 * @param below a random number from 0 to below the argument
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
        Supplier<String> ids,
        IntUnaryOperator below,
        JsonFactory json) {}
