package dev.tandemkv.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.OverloadedWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * The whole core against a naive model: random selections, bookings of every kind, progress, frees, cancellations, time, membership, cache
 * events and ports that fail. After every step the load of every rank is what the model adds up from the bookings it knows; at the end
 * nothing is left.
 */
class SelectionCorePropertyTest {

    private static final long LEASE_SECONDS = 300;

    /** What the model knows of one booking. */
    private static final class Known {
        final WorkerRank worker;
        final long[] hashes;
        long prefill;
        long outputs;
        Booking handle;
        long expiresAt = Long.MAX_VALUE;

        Known(WorkerRank worker, long[] hashes, long prefill) {
            this.worker = worker;
            this.hashes = hashes;
            this.prefill = prefill;
        }
    }

    private static final class Run {
        final Random random;
        final VirtualTime time = new VirtualTime();
        final Set<Long> overloaded = new HashSet<>();
        boolean portFails;
        final SelectionCore core;
        final Map<String, Known> known = new LinkedHashMap<>();
        final Map<String, CompletableFuture<Booking>> waiting = new LinkedHashMap<>();
        final Map<Long, Integer> workers = new HashMap<>();
        int ids;

        Run(long seed, boolean queues) {
            random = new Random(seed);
            SelectionConfig config =
                    queues ? SelectionConfig.builder().queueThreshold(0.01).build() : SelectionConfig.DEFAULTS;
            OverloadedWorkers overload = (partition, rank) -> {
                if (portFails) {
                    throw new IllegalStateException("the port fails");
                }
                return overloaded.contains(rank.workerId());
            };
            core = SelectionCore.builder()
                    .config(config)
                    .host(SelectionHost.builder().overloadedWorkers(overload).build())
                    .ticker(time)
                    .clock(time.clock())
                    .scheduler(time)
                    .random(new SeededRandom(seed))
                    .build();
        }

        void step() {
            switch (random.nextInt(14)) {
                case 0, 1, 2 -> reserve();
                case 3 -> reserveById();
                case 4 ->
                    core.select(request("q" + ids++)
                            .queueing(SelectRequest.Queueing.REFUSED)
                            .build());
                case 5 -> progress();
                case 6, 7 -> free();
                case 8 -> cancel();
                case 9 -> join();
                case 10 -> leave();
                case 11 -> advance();
                case 12 -> event();
                default -> fault();
            }
            settleWaiting();
        }

        SelectRequest.Builder request(String id) {
            int blocks = 1 + random.nextInt(6);
            int family = random.nextInt(3);
            long[] hashes = new long[blocks];
            for (int i = 0; i < blocks; i++) {
                hashes[i] = family * 1000L + i + 1;
            }
            SelectRequest.Builder request = SelectRequest.builder(Prompt.ofHashes(hashes, hashes, blocks * 16L))
                    .selectionId(id);
            if (random.nextInt(5) == 0) {
                request.pinnedWorker(new WorkerRank(1 + random.nextInt(4), random.nextInt(2)));
            }
            if (random.nextInt(6) == 0) {
                request.deadlineTick(time.read() + Duration.ofSeconds(30).toNanos());
            }
            return request;
        }

        void reserve() {
            String id = random.nextInt(10) == 0 && !known.isEmpty() ? anyKnown() : "r" + ids++;
            CompletableFuture<Booking> stage =
                    core.selectAndReserve(request(id).build()).toCompletableFuture();
            if (known.containsKey(id) || waiting.containsKey(id)) {
                assertThat(stage).isCompletedExceptionally();
            } else if (stage.isDone()) {
                if (!stage.isCompletedExceptionally()) {
                    learn(id, stage.join());
                }
            } else {
                waiting.put(id, stage);
            }
        }

        void learn(String id, Booking booking) {
            Selection chosen = booking.selection();
            Known k = new Known(booking.id().worker(), chosen.sequenceHashes(), chosen.effectivePrefillTokens());
            k.handle = booking;
            known.put(id, k);
        }

        void reserveById() {
            String id = "b" + ids++;
            CompletableFuture<Selection> stage = core.reserve(
                            request(id).queueing(SelectRequest.Queueing.REFUSED).build())
                    .toCompletableFuture();
            if (!stage.isCompletedExceptionally()) {
                Selection chosen = stage.join();
                Known k = new Known(chosen.worker(), chosen.sequenceHashes(), chosen.effectivePrefillTokens());
                k.expiresAt = time.read() + Duration.ofSeconds(LEASE_SECONDS).toNanos();
                known.put(id, k);
            }
        }

        void progress() {
            if (known.isEmpty()) {
                return;
            }
            String id = anyKnown();
            Known k = known.get(id);
            if (random.nextBoolean()) {
                core.prefillComplete(id);
                k.prefill = 0;
            } else {
                core.addOutputBlocks(id, 2);
                k.outputs += 2;
            }
            if (k.expiresAt != Long.MAX_VALUE) {
                k.expiresAt = time.read() + Duration.ofSeconds(LEASE_SECONDS).toNanos();
            }
        }

        void free() {
            if (known.isEmpty()) {
                assertThat(CoreFixture.now(core.free("nobody"))).isEqualTo(FreeOutcome.ALREADY_GONE);
                return;
            }
            String id = anyKnown();
            Known k = known.remove(id);
            FreeOutcome outcome =
                    CoreFixture.now(k.handle != null && random.nextBoolean() ? core.free(k.handle) : core.free(id));
            assertThat(outcome).isEqualTo(FreeOutcome.FREED);
            if (k.handle != null) {
                k.handle.close();
            }
        }

        void cancel() {
            if (waiting.isEmpty()) {
                return;
            }
            String id = waiting.keySet().iterator().next();
            CompletableFuture<Booking> stage = waiting.remove(id);
            if (random.nextBoolean()) {
                stage.cancel(false);
            } else {
                assertThat(CoreFixture.now(core.free(id))).isEqualTo(FreeOutcome.FREED);
                assertThat(stage).isCompletedExceptionally();
            }
        }

        void join() {
            long id = 1 + random.nextInt(4);
            int ranks = 1 + random.nextInt(2);
            WorkerSpec spec = WorkerSpec.builder(id)
                    .endpoint("h:" + id)
                    .blockSize(16)
                    .dataParallelSize(ranks)
                    .maxNumBatchedTokens(8192L)
                    .build();
            core.upsert(spec);
            workers.put(id, ranks);
            known.values().removeIf(k -> k.worker.workerId() == id && k.worker.rank() >= ranks);
        }

        void leave() {
            if (random.nextInt(3) != 0 || workers.isEmpty()) {
                return;
            }
            long id = workers.keySet().iterator().next();
            workers.remove(id);
            core.remove(id);
            known.values().removeIf(k -> k.worker.workerId() == id);
        }

        void advance() {
            time.advance(Duration.ofSeconds(random.nextInt(200)));
            long now = time.read();
            known.values().removeIf(k -> k.expiresAt < now);
        }

        void event() {
            if (core.list().isEmpty()) {
                return;
            }
            long base = random.nextInt(3) * 1000L;
            core.apply(
                    PartitionKey.DEFAULT,
                    WorkerRank.of(1 + random.nextInt(4)),
                    KvEvent.Stored.device(null, new long[] {base + 1, base + 2}, new long[] {base + 1, base + 2}));
        }

        void fault() {
            overloaded.clear();
            if (random.nextBoolean()) {
                overloaded.add(1L + random.nextInt(4));
            }
            portFails = random.nextInt(4) == 0;
            core.hostSignalsChanged();
        }

        void settleWaiting() {
            waiting.entrySet().removeIf(entry -> {
                CompletableFuture<Booking> stage = entry.getValue();
                if (stage.isDone() && !stage.isCompletedExceptionally()) {
                    Booking booking = stage.join();
                    if (!booking.ended().toCompletableFuture().isDone()) {
                        learn(entry.getKey(), booking);
                    }
                }
                return stage.isDone();
            });
        }

        String anyKnown() {
            List<String> all = new ArrayList<>(known.keySet());
            return all.get(random.nextInt(all.size()));
        }

        void check() {
            PartitionLoads loads = core.loads(PartitionKey.DEFAULT).orElse(null);
            if (loads == null) {
                assertThat(known).isEmpty();
                return;
            }
            assertThat(loads.pendingRequests()).isEqualTo(waiting.size());
            for (RankLoad load : loads.loads()) {
                List<Known> here = known.values().stream()
                        .filter(k -> k.worker.equals(load.worker()))
                        .toList();
                Set<Long> blocks = new HashSet<>();
                here.forEach(k -> java.util.Arrays.stream(k.hashes).forEach(blocks::add));
                long outputs = here.stream().mapToLong(k -> k.outputs).sum();
                long prefill = here.stream().mapToLong(k -> k.prefill).sum();
                assertThat(load).isEqualTo(new RankLoad(load.worker(), prefill, blocks.size() + outputs, here.size()));
            }
            assertThat(core.stats().reservations()).isEqualTo(known.size() + waiting.size());
        }

        void end() {
            portFails = false;
            overloaded.clear();
            // A waiter that leaves lets the next one go, which is then booked before its own turn to leave.
            waiting.values().forEach(stage -> {
                if (!stage.cancel(false) && !stage.isCompletedExceptionally()) {
                    stage.join().close();
                }
            });
            waiting.clear();
            new ArrayList<>(known.keySet()).forEach(core::free);
            known.clear();
            check();
            SelectionStats stats = core.stats();
            assertThat(stats.reservations()).isZero();
            assertThat(stats.booked())
                    .isEqualTo(stats.freed() + stats.rolledBack() + stats.expired() + stats.workerRemoved());
        }
    }

    @Property(tries = 150)
    void randomLife_withoutQueue_ledgerIsWhatTheModelAddsUp(@ForAll long seed) {
        live(new Run(seed, false));
    }

    @Property(tries = 150)
    void randomLife_withQueue_ledgerIsWhatTheModelAddsUp(@ForAll long seed) {
        live(new Run(seed, true));
    }

    private static void live(Run run) {
        for (int i = 0; i < 120; i++) {
            run.step();
            run.check();
        }
        run.end();
    }
}
