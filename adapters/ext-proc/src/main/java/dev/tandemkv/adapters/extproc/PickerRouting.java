package dev.tandemkv.adapters.extproc;

import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.selection.SelectionPool;
import java.util.Objects;

/** Who chooses and keeps the books. */
public sealed interface PickerRouting permits PickerRouting.Aggregated, PickerRouting.Disaggregated {

    /** One pool, whose workers serve a request from its first token to its last. */
    static PickerRouting aggregated(SelectionPool pool) {
        return new Aggregated(pool);
    }

    /**
     * A prefill worker and a decode worker for each request, in the order of the coordinator. The decode worker is the destination.
     *
     * @param prefillEndpoints where prefill workers listen, for the header that a decode sidecar reads
     * @param prefillGroup routing group of the prefill pool's partition
     */
    static PickerRouting disaggregated(
            DisaggCoordinator coordinator, PoolEndpoints prefillEndpoints, String prefillGroup) {
        return new Disaggregated(coordinator, prefillEndpoints, prefillGroup);
    }

    /**
     * One pool.
     *
     * @param pool chooses and books
     */
    record Aggregated(SelectionPool pool) implements PickerRouting {
        public Aggregated {
            Objects.requireNonNull(pool, "pool");
        }
    }

    /**
     * One coordinator over two pools.
     *
     * @param coordinator plans both legs
     * @param prefillEndpoints where prefill workers listen
     * @param prefillGroup routing group of the prefill pool's partition
     */
    record Disaggregated(DisaggCoordinator coordinator, PoolEndpoints prefillEndpoints, String prefillGroup)
            implements PickerRouting {
        public Disaggregated {
            Objects.requireNonNull(coordinator, "coordinator");
            Objects.requireNonNull(prefillEndpoints, "prefillEndpoints");
            Objects.requireNonNull(prefillGroup, "prefillGroup");
        }
    }
}
