package dev.tandemkv.testkit.report;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * Fractions as text. {@link Double#toString} gives other digits on other JDKs; these are the same everywhere, since a report is to be the
 * same everywhere.
 */
public final class Decimals {

    private Decimals() {}

    /** A finite number, rounded half up to so many places. */
    public static BigDecimal rounded(double value, int places) {
        return new BigDecimal(value).setScale(places, RoundingMode.HALF_UP);
    }
}
