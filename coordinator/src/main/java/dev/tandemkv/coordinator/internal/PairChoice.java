package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.JointDecision;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.coordinator.TransferCost;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.RoutingConstraints;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The cheapest compatible pair: {@code prefill cost + decode cost + transfer cost}, over all pairs.
 *
 * <p>Two workers are compatible if neither's required domain excludes the other and neither's metadata is incomplete. A preferred domain
 * scales the other leg's cost as its taint would in that pool: {@code exp(-tanh(sum of matched weights))}, with the weight added to what
 * the leg's own preferences already gave.
 */
final class PairChoice {

    private final DisaggRequest request;
    private final TransferCost transferCost;

    PairChoice(DisaggRequest request, TransferCost transferCost) {
        this.request = request;
        this.transferCost = transferCost;
    }

    /** A rank with what its metadata says, read once for all its pairs. */
    private record Side(RankScore score, @Nullable TransferConstraint domain, String taint) {

        static List<Side> complete(List<RankScore> scores) {
            List<Side> sides = new ArrayList<>(scores.size());
            for (RankScore score : scores) {
                TransferDomains.Resolved resolved = TransferDomains.of(score.record());
                TransferConstraint domain = resolved.constraint();
                if (resolved.missing() == null) {
                    sides.add(new Side(score, domain, domain == null ? "" : domain.taint()));
                }
            }
            return sides;
        }

        boolean accepts(Side other) {
            return domain == null
                    || !domain.isRequired()
                    || domain.value().equals(other.spec().topologyDomains().get(domain.domain()))
                    || other.spec().taints().contains(taint);
        }

        private WorkerSpec spec() {
            return score.record().spec();
        }
    }

    /** The best pair, or {@code null} if no two workers are compatible. Equal pairs are broken uniformly. */
    @Nullable
    JointDecision best(List<RankScore> prefills, List<RankScore> decodes, RandomGenerator random) {
        List<Side> completeDecodes = Side.complete(decodes);
        JointDecision best = null;
        long pairs = 0;
        int ties = 0;
        for (Side prefill : Side.complete(prefills)) {
            for (Side decode : completeDecodes) {
                if (!prefill.accepts(decode) || !decode.accepts(prefill)) {
                    continue;
                }
                pairs++;
                JointDecision pair = pair(prefill, decode);
                int order = best == null ? -1 : Double.compare(pair.totalCost(), best.totalCost());
                ties = order < 0 ? 1 : ties + (order == 0 ? 1 : 0);
                if (order < 0 || (order == 0 && random.nextInt(ties) == 0)) {
                    best = pair;
                }
            }
        }
        return best == null ? null : counted(best, pairs);
    }

    private JointDecision pair(Side prefill, Side decode) {
        double prefillCost =
                scaled(prefill.score(), decode.domain(), request.prefill().constraints());
        double decodeCost =
                scaled(decode.score(), prefill.domain(), request.decode().constraints());
        double transfer = transferCost.blocks(
                prefill.score().record(),
                decode.score().record(),
                request.prompt().islTokens());
        return new JointDecision(
                JointDecision.Outcome.PAIR_CHOSEN,
                prefill.score().worker(),
                decode.score().worker(),
                prefillCost,
                decodeCost,
                transfer,
                0);
    }

    private static double scaled(RankScore score, @Nullable TransferConstraint preference, RoutingConstraints own) {
        if (preference == null || preference.isRequired()) {
            return score.cost();
        }
        double before = matched(score.record(), own);
        double after = matched(score.record(), preference.addTo(own));
        return score.cost() * Math.exp(Math.tanh(before) - Math.tanh(after));
    }

    private static double matched(WorkerRecord record, RoutingConstraints constraints) {
        double sum = 0;
        for (Map.Entry<String, Double> preferred : constraints.preferredTaints().entrySet()) {
            if (record.spec().carries(preferred.getKey())) {
                sum += preferred.getValue();
            }
        }
        return sum;
    }

    private static JointDecision counted(JointDecision best, long pairs) {
        return new JointDecision(
                best.outcome(),
                best.prefill(),
                best.decode(),
                best.prefillCost(),
                best.decodeCost(),
                best.transferCost(),
                pairs);
    }
}
