package dev.tandemkv.adapters.extproc;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionPool;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A picker in virtual time over a transport without threads: what a test sends is answered when the call returns. */
final class Fixture implements AutoCloseable {

    final VirtualTime time = new VirtualTime();
    final SelectionCore decode = core(1, "10.0.0.");
    final SelectionCore prefill = core(11, "10.0.1.");
    final List<TokenizeRequest> tokenized = new ArrayList<>();

    /** What the tokenizer answers next; {@code null}: one token for each byte, at once. */
    @Nullable
    CompletableFuture<TokenizedPrompt> tokenizing;

    /** Takes the place of {@link #tokenizing}. */
    @Nullable
    Function<TokenizeRequest, CompletionStage<TokenizedPrompt>> tokenizer;

    /** What the picker told, one word each. */
    final List<String> told = new ArrayList<>();

    final EndpointPickerService picker;
    private final Server server;
    private final ManagedChannel channel;

    static Fixture aggregated(PickerSettings settings) {
        return new Fixture(settings, null, core -> core);
    }

    static Fixture disaggregated(PlanOrder order) {
        return new Fixture(PickerSettings.DEFAULT, order, core -> core);
    }

    /** Pairs, decode first, with a pool before the prefill core. */
    static Fixture disaggregated(PickerSettings settings, Function<SelectionCore, SelectionPool> prefill) {
        return new Fixture(settings, PlanOrder.DECODE_ANCHORED, prefill);
    }

    /** A pool before the core. */
    static Fixture over(Function<SelectionCore, SelectionPool> pool) {
        return over(PickerSettings.DEFAULT, pool);
    }

    static Fixture over(PickerSettings settings, Function<SelectionCore, SelectionPool> pool) {
        return new Fixture(settings, null, pool);
    }

    private Fixture(PickerSettings settings, @Nullable PlanOrder order, Function<SelectionCore, SelectionPool> pool) {
        PickerRouting routing = order == null
                ? PickerRouting.aggregated(pool.apply(decode))
                : PickerRouting.disaggregated(
                        DisaggCoordinator.builder(pool.apply(prefill), decode, time)
                                .ticker(time)
                                .order(order)
                                .prefillFailure(
                                        order == PlanOrder.DECODE_ANCHORED
                                                ? PrefillFailurePolicy.BYPASS_ON_DECODE
                                                : PrefillFailurePolicy.FREE_DECODE)
                                .build(),
                        PoolEndpoints.of(prefill, PartitionKey.DEFAULT),
                        PartitionKey.DEFAULT_NAME);
        picker = EndpointPickerService.builder(
                        routing, PoolEndpoints.of(decode, PartitionKey.DEFAULT), new Tokens(), time)
                .ticker(time)
                .settings(settings)
                .observer(new Told())
                .build();
        String name = InProcessServerBuilder.generateName();
        try {
            server = InProcessServerBuilder.forName(name)
                    .directExecutor()
                    .addService(picker)
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        channel = InProcessChannelBuilder.forName(name).directExecutor().build();
    }

    private SelectionCore core(long first, String network) {
        SelectionCore core =
                SelectionCore.builder().ticker(time).scheduler(time).build();
        for (long id = first; id < first + 2; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("http://" + network + id + ":8000/")
                    .blockSize(16)
                    .dataParallelSize(2)
                    .build());
        }
        return core;
    }

    Proxy open() {
        return open(new Proxy());
    }

    Proxy open(Proxy proxy) {
        ExternalProcessorGrpc.newStub(channel).process(proxy);
        return proxy;
    }

    /** Bookings of a core. */
    static long bookings(SelectionCore core) {
        return loads(core).stream().mapToLong(RankLoad::activeRequests).sum();
    }

    static long prefillTokens(SelectionCore core) {
        return loads(core).stream().mapToLong(RankLoad::potentialPrefillTokens).sum();
    }

    private static List<RankLoad> loads(SelectionCore core) {
        return core.loads(PartitionKey.DEFAULT).map(PartitionLoads::loads).orElse(List.of());
    }

    @Override
    public void close() {
        picker.close();
        channel.shutdownNow();
        server.shutdownNow();
        decode.close();
        prefill.close();
    }

    private final class Told implements PickerObserver {

        @Override
        public void onPicked(WorkerRank destination, @Nullable WorkerRank prefill, Duration took) {
            told.add("picked");
        }

        @Override
        public void onRefused(int status) {
            told.add("refused " + status);
        }

        @Override
        public void onPrefillComplete(WorkerRank destination) {
            told.add("prefill complete");
        }

        @Override
        public void onLimit(Limit limit) {
            told.add("limit " + limit);
        }

        @Override
        public void onEnded() {
            told.add("ended");
        }
    }

    private final class Tokens implements Tokenizer {

        @Override
        public CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request) {
            tokenized.add(request);
            if (tokenizer != null) {
                return tokenizer.apply(request);
            }
            return tokenizing != null
                    ? tokenizing
                    : CompletableFuture.completedFuture(
                            new TokenizedPrompt(new int[Math.toIntExact(request.bytes())], List.of()));
        }

        @Override
        public void close() {}
    }
}
