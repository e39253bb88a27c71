package dev.tandemkv.selection.internal.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.DrainOutcome;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.CoreParts;
import dev.tandemkv.selection.internal.RolePolicies;
import dev.tandemkv.selection.policy.PolicyRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class DrainsTest {

    private final VirtualTime time = new VirtualTime();
    private final CoreParts parts = CoreParts.assemble(
            SelectionConfig.DEFAULTS,
            SelectionHost.STANDALONE,
            time,
            time.clock(),
            time,
            new SeededRandom(1),
            null,
            SelectionObserver.NONE,
            SourceTraits.DEFAULT,
            new RolePolicies(SelectionConfig.DEFAULTS, PolicyRegistry.standard(), key -> Role.AGGREGATED, Map.of()),
            null);

    @Test
    void drain_askedAgainAndAgain_keepsNothingOfThoseWhoseBoundPassed() {
        parts.workers()
                .upsert(WorkerSpec.builder(1).endpoint("a:1").blockSize(16).build());
        Booking booking = parts.requests()
                .selectAndReserve(
                        SelectRequest.builder(Prompt.ofTokens(1, 2, 3)).build())
                .toCompletableFuture()
                .join();
        List<CompletionStage<DrainOutcome>> drains = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            drains.add(parts.drains().drain(1, Duration.ofSeconds(1)));
        }
        time.advance(Duration.ofSeconds(2));
        assertThat(parts.partition(PartitionKey.DEFAULT).drains().size()).isZero();
        assertThat(drains)
                .allSatisfy(
                        drain -> assertThat(drain.toCompletableFuture().join()).isEqualTo(DrainOutcome.BOUND_PASSED));
        CompletionStage<DrainOutcome> last = parts.drains().drain(1, Duration.ofSeconds(1));
        assertThat(parts.partition(PartitionKey.DEFAULT).drains().size()).isEqualTo(1);
        booking.close();
        assertThat(last.toCompletableFuture().join()).isEqualTo(DrainOutcome.DRAINED);
        assertThat(parts.partition(PartitionKey.DEFAULT).drains().size()).isZero();
    }
}
