package dev.tandemkv.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/** The joint order against a brute force written from the specification, and against the two greedy orders. */
class JointPropertyTest {

    private static final Prompt PROMPT = Prompt.ofTokens(new int[160]);

    private static double transfer(WorkerRecord prefill, WorkerRecord decode) {
        return Math.floorMod(prefill.workerId() * 31 + decode.workerId() * 17, 40);
    }

    private static MemoryPool pool(SeededRandom random, long firstId, int workers) {
        MemoryPool pool = new MemoryPool().canScore();
        for (long id = firstId; id < firstId + workers; id++) {
            WorkerSpec.Builder spec =
                    WorkerSpec.builder(id).endpoint("h" + id + ":1").blockSize(16);
            if (random.nextInt(3) > 0) {
                boolean required = random.nextInt(2) == 0;
                spec.topologyDomains(Map.of("zone", String.valueOf(random.nextInt(3))))
                        .kvTransferDomain("zone")
                        .kvTransferEnforcement(
                                required ? KvTransferEnforcement.REQUIRED : KvTransferEnforcement.PREFERRED);
                if (!required) {
                    spec.kvTransferPreferredWeight(random.nextInt(11) / 10.0);
                }
            }
            pool.worker(spec).cached(id, random.nextInt(10)).decodeLoad(id, random.nextInt(30));
        }
        return pool;
    }

    private record Pair(long prefill, long decode, double cost) {}

    private static boolean excludes(WorkerSpec anchor, WorkerSpec other) {
        String domain = anchor.kvTransferDomain();
        return domain != null
                && anchor.kvTransferEnforcement() == KvTransferEnforcement.REQUIRED
                && !anchor.topologyDomains()
                        .get(domain)
                        .equals(other.topologyDomains().get(domain));
    }

    private static double preference(WorkerSpec anchor, WorkerSpec other) {
        String domain = anchor.kvTransferDomain();
        boolean applies = domain != null
                && anchor.kvTransferEnforcement() == KvTransferEnforcement.PREFERRED
                && anchor.topologyDomains()
                        .get(domain)
                        .equals(other.topologyDomains().get(domain));
        Double weight = anchor.kvTransferPreferredWeight();
        return applies && weight != null ? Math.exp(-Math.tanh(weight)) : 1;
    }

    private static double cost(RankScore p, RankScore d) {
        WorkerSpec prefill = p.record().spec();
        WorkerSpec decode = d.record().spec();
        return p.cost() * preference(decode, prefill)
                + d.cost() * preference(prefill, decode)
                + transfer(p.record(), d.record());
    }

    private static @Nullable Pair bruteForce(List<RankScore> prefills, List<RankScore> decodes) {
        Pair best = null;
        for (RankScore p : prefills) {
            for (RankScore d : decodes) {
                if (excludes(p.record().spec(), d.record().spec())
                        || excludes(d.record().spec(), p.record().spec())) {
                    continue;
                }
                double cost = cost(p, d);
                if (best == null || cost < best.cost) {
                    best = new Pair(p.worker().workerId(), d.worker().workerId(), cost);
                }
            }
        }
        return best;
    }

    private static List<RankScore> scores(MemoryPool pool, SelectRequest request) {
        return pool.score(request).toCompletableFuture().join().orElseThrow();
    }

    @Property(tries = 500)
    void joint_equalsBruteForce_andIsNeverWorseThanGreedy(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 7) int p, @ForAll @IntRange(min = 1, max = 7) int d) {
        SeededRandom random = new SeededRandom(seed);
        Fixture f = new Fixture();
        MemoryPool prefill = pool(random, 1, p);
        MemoryPool decode = pool(random, 101, d);
        // What the legs ask for: prefill as it is, decode by load alone.
        DisaggRequest request = DisaggRequest.builder("r", PROMPT).build();
        List<RankScore> prefills = scores(prefill, SelectRequest.builder(PROMPT).build());
        List<RankScore> decodes = scores(
                decode,
                SelectRequest.builder(PROMPT)
                        .override(new dev.tandemkv.selection.RouterConfigOverride(0.0, null, null, false, false, null))
                        .build());
        Pair expected = bruteForce(prefills, decodes);
        DisaggCoordinator joint = DisaggCoordinator.builder(prefill, decode, f.time)
                .ticker(f.time)
                .order(PlanOrder.JOINT)
                .random(new SeededRandom(seed))
                .transferCost((a, b, tokens) -> transfer(a, b))
                .build();
        CompletableFuture<RoutingPlan> call =
                joint.plan(request, CancellationSignal.never()).toCompletableFuture();
        if (expected == null) {
            assertThat(call).isCompletedExceptionally();
            assertThat(prefill.live() + decode.live()).isZero();
            return;
        }
        RoutingPlan plan = call.join();
        JointDecision decision = plan.jointDecision().orElseThrow();
        assertThat(decision.totalCost()).isCloseTo(expected.cost, within(1e-9));
        assertThat(plan.selection(Leg.PREFILL).orElseThrow().worker()).isEqualTo(decision.prefill());
        assertThat(plan.selection(Leg.DECODE).orElseThrow().worker()).isEqualTo(decision.decode());
        plan.close();
        for (PlanOrder greedy : List.of(PlanOrder.PREFILL_ANCHORED, PlanOrder.DECODE_ANCHORED)) {
            DisaggCoordinator c = DisaggCoordinator.builder(prefill, decode, f.time)
                    .ticker(f.time)
                    .order(greedy)
                    .pairCheck(PairCheck.BOTH_WORKERS)
                    .build();
            CompletableFuture<RoutingPlan> pair =
                    c.plan(request, CancellationSignal.never()).toCompletableFuture();
            if (pair.isCompletedExceptionally()) {
                continue;
            }
            RoutingPlan other = pair.join();
            double cost = cost(
                    of(
                            prefills,
                            other.selection(Leg.PREFILL).orElseThrow().worker().workerId()),
                    of(
                            decodes,
                            other.selection(Leg.DECODE).orElseThrow().worker().workerId()));
            assertThat(decision.totalCost()).isLessThanOrEqualTo(cost + 1e-9);
            other.close();
        }
        assertThat(prefill.live() + decode.live()).isZero();
    }

    private static RankScore of(List<RankScore> scores, long workerId) {
        return scores.stream()
                .filter(s -> s.worker().workerId() == workerId)
                .findFirst()
                .orElseThrow();
    }
}
