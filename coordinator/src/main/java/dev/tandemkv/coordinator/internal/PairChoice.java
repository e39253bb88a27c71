package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.JointDecision;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.coordinator.TransferCost;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.RoutingConstraints;
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

    /** The best pair, or {@code null} if no two workers are compatible. Equal pairs are broken uniformly. */
    @Nullable
    JointDecision best(List<RankScore> prefills, List<RankScore> decodes, RandomGenerator random) {
        JointDecision best = null;
        long pairs = 0;
        int ties = 0;
        for (RankScore prefill : prefills) {
            TransferDomains.Resolved fromPrefill = TransferDomains.of(prefill.record());
            for (RankScore decode : decodes) {
                JointDecision pair = pair(prefill, fromPrefill, decode);
                if (pair == null) {
                    continue;
                }
                pairs++;
                int order = best == null ? -1 : Double.compare(pair.totalCost(), best.totalCost());
                ties = order < 0 ? 1 : ties + (order == 0 ? 1 : 0);
                if (order < 0 || (order == 0 && random.nextInt(ties) == 0)) {
                    best = pair;
                }
            }
        }
        return best == null ? null : counted(best, pairs);
    }

    private @Nullable JointDecision pair(RankScore prefill, TransferDomains.Resolved fromPrefill, RankScore decode) {
        TransferDomains.Resolved fromDecode = TransferDomains.of(decode.record());
        boolean compatible = fromPrefill.missing() == null
                && fromDecode.missing() == null
                && TransferDomains.accepts(prefill.record(), decode.record())
                && TransferDomains.accepts(decode.record(), prefill.record());
        if (!compatible) {
            return null;
        }
        double prefillCost =
                scaled(prefill, fromDecode.constraint(), request.prefill().constraints());
        double decodeCost =
                scaled(decode, fromPrefill.constraint(), request.decode().constraints());
        double transfer = transferCost.blocks(
                prefill.record(), decode.record(), request.prompt().islTokens());
        return new JointDecision(
                JointDecision.Outcome.PAIR_CHOSEN,
                prefill.worker(),
                decode.worker(),
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
