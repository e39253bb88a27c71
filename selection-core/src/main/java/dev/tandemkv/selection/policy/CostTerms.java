package dev.tandemkv.selection.policy;

import java.util.Map;

/** What a cost was made of. {@link #cost()} computes it from the terms again and gives the same number, bit for bit. */
public interface CostTerms {

    double cost();

    /** The terms by name, in the order of the formula. */
    Map<String, Double> values();

    /** A cost that does not tell what it was made of. */
    static CostTerms opaque(double cost) {
        record Opaque(double cost) implements CostTerms {
            @Override
            public Map<String, Double> values() {
                return Map.of("cost", cost);
            }
        }

        return new Opaque(cost);
    }
}
