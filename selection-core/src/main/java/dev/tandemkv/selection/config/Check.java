package dev.tandemkv.selection.config;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The checks that several groups of settings share; each names the field as it is written in files. */
final class Check {

    /** An instant so far ahead still fits the nanoseconds of a ticker. */
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private Check() {}

    static void from0(String field, @Nullable Double value) {
        if (value != null && !(Double.isFinite(value) && value >= 0)) {
            throw new BadRequestException(field, value, "finite, >= 0");
        }
    }

    static void from0To1(String field, @Nullable Double value) {
        if (value != null && !(value >= 0 && value <= 1)) {
            throw new BadRequestException(field, value, "0..1");
        }
    }

    static void atLeast(String field, long value, long minimum) {
        if (value < minimum) {
            throw new BadRequestException(field, value, ">= " + minimum);
        }
    }

    static void notNegative(String field, @Nullable Duration value) {
        if (value != null && (value.isNegative() || value.compareTo(LONGEST) > 0)) {
            throw new BadRequestException(field, value, ">= 0, at most 100 years");
        }
    }

    static void positive(String field, Duration value) {
        if (value.isNegative() || value.isZero() || value.compareTo(LONGEST) > 0) {
            throw new BadRequestException(field, value, "> 0, at most 100 years");
        }
    }

    static void that(boolean holds, String field, Object value, String expectation) {
        if (!holds) {
            throw new BadRequestException(field, value, expectation);
        }
    }
}
