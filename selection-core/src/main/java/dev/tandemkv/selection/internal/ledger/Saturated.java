package dev.tandemkv.selection.internal.ledger;

import java.math.BigInteger;

/** Arithmetic that stops at the ends of the range. */
final class Saturated {

    private Saturated() {}

    static long add(long a, long b) {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) < 0 ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
    }

    /** {@code floor(amount * part / whole)} for amounts of 0 and more; at most {@link Long#MAX_VALUE}. */
    static long share(long amount, long part, long whole) {
        if (Math.multiplyHigh(amount, part) == 0 && amount * part >= 0) {
            return amount * part / whole;
        }
        BigInteger exact =
                BigInteger.valueOf(amount).multiply(BigInteger.valueOf(part)).divide(BigInteger.valueOf(whole));
        return exact.bitLength() < Long.SIZE ? exact.longValue() : Long.MAX_VALUE;
    }
}
