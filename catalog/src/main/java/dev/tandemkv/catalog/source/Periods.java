package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;

/** What counts as the period of something that happens again and again. */
final class Periods {

    private Periods() {}

    static Duration requirePositive(String field, Duration period) {
        if (period.isNegative() || period.isZero()) {
            throw new BadRequestException(field, period, "above 0");
        }
        return period;
    }
}
