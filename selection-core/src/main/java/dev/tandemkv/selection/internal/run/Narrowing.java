package dev.tandemkv.selection.internal.run;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.host.LoraWorkerFilter;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.partition.Partition;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a request may choose from before the partition step looks at the workers. */
final class Narrowing {

    private Narrowing() {}

    /** @throws BadRequestException if the request pins a rank that it does not allow itself */
    static void requirePinAllowed(SelectRequest request) {
        WorkerRank pin = request.pinnedWorker();
        Set<Long> allowed = request.allowedWorkerIds();
        if (pin != null
                && ((allowed != null && !allowed.contains(pin.workerId()))
                        || request.excludedWorkerIds().contains(pin.workerId()))) {
            throw new BadRequestException("pinned_worker", pin, "a worker that the request allows");
        }
    }

    /** The allow-set, narrowed to the workers that serve the request's adapter; {@code null} allows all. */
    static @Nullable Set<Long> allowed(Partition in, SelectRequest request, SelectionHost host) {
        Set<Long> allowed = request.allowedWorkerIds();
        LoraWorkerFilter filter = host.loraWorkerFilter();
        String lora = request.prompt().loraName();
        if (filter == null || lora == null || lora.isBlank()) {
            return allowed;
        }
        Set<Long> universe = allowed == null ? in.schedulableWorkers() : allowed;
        Set<Long> narrowed = new HashSet<>(filter.workersFor(in.key(), lora, universe));
        narrowed.retainAll(universe);
        WorkerRank pin = request.pinnedWorker();
        if (pin != null && universe.contains(pin.workerId())) {
            narrowed.add(pin.workerId());
        }
        return narrowed.isEmpty() ? allowed : narrowed;
    }
}
