package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.NaiveCatalog;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerLeasesTest {

    private final VirtualTime time = new VirtualTime();
    private final NaiveCatalog catalog = new NaiveCatalog();
    private final List<Long> removed = new ArrayList<>();
    private final WorkerLeases leases =
            new WorkerLeases(catalog, time, time, Duration.ofSeconds(30), new CatalogObserver() {
                @Override
                public void removed(WorkerRecord record) {
                    removed.add(record.workerId());
                }
            });

    private void register(long id) {
        catalog.upsert(WorkerSpec.builder(id).endpoint("h:80").blockSize(16).build());
    }

    private void advance(long seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    @Test
    void kW5_defaultsAndAnIdleWorkerForAnHour_itIsStillThere() {
        register(1);
        advance(3600);
        assertThat(catalog.ids()).containsExactly(1L);
        assertThat(time.pending())
                .as("without a heartbeat nothing is even looked at")
                .isZero();
    }

    @Test
    void kW5_neverHeardFrom_isNotDeadBesideOnesThatReport() {
        register(1);
        register(2);
        leases.heartbeat(2);
        advance(3600);
        assertThat(catalog.ids()).containsExactly(1L);
        assertThat(removed).containsExactly(2L);
        assertThat(time.pending()).isZero();
    }

    @Test
    void heartbeat_inTime_renews() {
        register(1);
        for (int i = 0; i < 10; i++) {
            leases.heartbeat(1);
            advance(29);
        }
        assertThat(catalog.ids()).containsExactly(1L);
        advance(1);
        assertThat(catalog.ids()).isEmpty();
    }

    @Test
    void silentWorker_goesWhenItsOwnLeaseEnds() {
        register(1);
        register(2);
        leases.heartbeat(1);
        advance(20);
        leases.heartbeat(2);
        advance(10);
        assertThat(removed).containsExactly(1L);
        advance(19);
        assertThat(removed).hasSize(1);
        advance(1);
        assertThat(removed).containsExactly(1L, 2L);
    }

    @Test
    void heartbeat_ofAnUnknownWorker_asksForARegistration() {
        assertThatThrownBy(() -> leases.heartbeat(-1))
                .isInstanceOf(NotFoundException.class)
                .hasMessageContaining("18446744073709551615");
        register(1);
        leases.heartbeat(1);
        catalog.remove(1);
        assertThatThrownBy(() -> leases.heartbeat(1)).isInstanceOf(NotFoundException.class);
        register(1);
        advance(3600);
        assertThat(catalog.ids()).as("registered anew, never heard of").containsExactly(1L);
    }

    @Test
    void workerRemovedByOthers_isNoProblemForTheSweep() {
        register(1);
        leases.heartbeat(1);
        catalog.remove(1);
        advance(60);
        assertThat(removed).isEmpty();
        assertThat(time.pending()).isZero();
    }

    @Test
    void forget_endsTheLeaseAndKeepsTheWorker() {
        register(1);
        leases.heartbeat(1);
        leases.forget(1);
        advance(60);
        assertThat(catalog.ids()).containsExactly(1L);
    }

    @Test
    void close_keepsTheWorkersAndEndsTheLooking() {
        register(1);
        leases.heartbeat(1);
        leases.close();
        leases.close();
        assertThat(time.pending()).isZero();
        leases.heartbeat(1);
        advance(60);
        assertThat(catalog.ids()).containsExactly(1L);
    }
}
