package dev.tandemkv.selection.internal.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The ledger against {@link NaiveLedger}, step by step, under any interleaving of its operations. */
class BookingLedgerPropertyTest {

    private static final LeaseTimes LEASES = new LeaseTimes(300, 120);

    /** One step: what to do, and numbers from which it takes its arguments. */
    record Step(int action, int row, int pick, List<Long> prompt) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        return stepsOn(3);
    }

    @Provide
    Arbitrary<List<Step>> stepsOnManyRows() {
        return stepsOn(150);
    }

    private static Arbitrary<List<Step>> stepsOn(int rows) {
        Arbitrary<List<Long>> prompts = Arbitraries.longs().between(1, 2).list().ofMaxSize(6);
        return Combinators.combine(
                        Arbitraries.integers().between(0, 17),
                        Arbitraries.integers().between(0, rows - 1),
                        Arbitraries.integers().between(0, 40),
                        prompts)
                .as(Step::new)
                .list()
                .ofMinSize(20)
                .ofMaxSize(120);
    }

    @Property
    void anyInterleaving_equalsNaiveLedger(@ForAll("steps") List<Step> steps) {
        new Run(3).play(steps);
    }

    @Property(tries = 60)
    void anyInterleavingOnManyRows_equalsNaiveLedger(@ForAll("stepsOnManyRows") List<Step> steps) {
        new Run(150).play(steps);
    }

    private static final class Run {
        private final int rows;
        private final BookingLedger ledger = new BookingLedger(LEASES, new SeededRandom(7));
        private final NaiveLedger naive = new NaiveLedger(LEASES);
        private final Map<String, LedgerEntry> entries = new HashMap<>();
        private final List<LedgerEntry> over = new ArrayList<>();
        private long now = 1000;
        private long attempts;

        Run(int rows) {
            this.rows = rows;
        }

        void play(List<Step> steps) {
            for (Step step : steps) {
                apply(step);
                compare(step);
            }
            List.copyOf(entries.values()).forEach(this::free);
            ledger.checkInvariants();
            assertThat(ledger.size()).isZero();
            for (int row = 0; row < rows; row++) {
                assertThat(ledger.load(row, now)).isEqualTo(new RankLoad(0, 0, 0));
            }
        }

        private void apply(Step step) {
            switch (step.action) {
                case 0, 1, 2, 3, 4, 5 -> add(step);
                case 6, 7, 8 -> picked(step, this::free);
                case 9 ->
                    picked(step, entry -> {
                        boolean ended = naive.endPrefill(naiveOf(entry), now);
                        naiveOf(entry).renewedAt = now;
                        assertThat(ledger.markPrefill(entry, now))
                                .isEqualTo(ended ? PrefillMark.MARKED : PrefillMark.NO_CHANGE);
                    });
                case 10 ->
                    picked(step, entry -> {
                        naive.output(naiveOf(entry), 1 + step.pick % 3);
                        naiveOf(entry).renewedAt = now;
                        assertThat(ledger.addOutputBlocks(entry, 1 + step.pick % 3, now))
                                .isTrue();
                    });
                case 11, 12 ->
                    picked(step, entry -> {
                        double fraction = step.pick % 9 / 8.0;
                        naive.output(naiveOf(entry), 1, fraction);
                        naiveOf(entry).renewedAt = now;
                        assertThat(ledger.addOutputBlocks(entry, 1, fraction, now))
                                .isTrue();
                    });
                case 13 ->
                    picked(step, entry -> {
                        PrefillHint hint = hint(step);
                        assertThat(ledger.chargePrefill(entry, hint, now))
                                .isEqualTo(naive.charge(naiveOf(entry), hint, now));
                    });
                case 14 ->
                    picked(step, entry -> {
                        Ownership next = Ownership.values()[step.pick % 3];
                        naiveOf(entry).ownership = next;
                        naiveOf(entry).renewedAt = now;
                        assertThat(ledger.handOver(entry, next, now)).isTrue();
                    });
                case 15 -> removeRow(step.row);
                case 16 -> now += step.pick * (step.row % 3 == 2 ? 0xFFF_FFFF_FFFFL : 7L);
                default -> expire();
            }
        }

        private void add(Step step) {
            String name = "r" + step.pick;
            Ownership ownership = Ownership.values()[(step.pick + step.row) % 3];
            BookingTerms terms = new BookingTerms(
                    new BookingId(name, WorkerRank.of(step.row), ++attempts),
                    hint(step),
                    null,
                    step.pick % 4 == 0 ? "adapter" : null,
                    ownership);
            long[] hashes = step.prompt.stream().mapToLong(Long::longValue).toArray();
            if (!naive.add(step.row, terms, step.prompt, now)) {
                assertThatThrownBy(() -> ledger.add(step.row, terms, hashes, now))
                        .isInstanceOf(ConflictException.class);
                return;
            }
            entries.put(name, ledger.add(step.row, terms, hashes, now));
            Arrays.fill(hashes, 99); // the caller may use its array again
        }

        private static PrefillHint hint(Step step) {
            // Odd figures, so that shares of the anchor are no round numbers; a few whose products pass 64 bits.
            long scale = step.row % 3 == 2 ? 0x3FFF_FFFF_FFFFL : 1;
            long tokens = step.pick % 5 * 17L * scale;
            long nanos = (step.pick % 7 * 37L + step.row) * scale;
            return new PrefillHint(tokens, step.pick % 7 == 6 ? PrefillHint.UNMODELLED : nanos);
        }

        private NaiveLedger.Entry naiveOf(LedgerEntry entry) {
            return naive.live.get(entry.id().selectionId());
        }

        private void picked(Step step, Consumer<LedgerEntry> action) {
            if (!entries.isEmpty()) {
                List<String> names = entries.keySet().stream().sorted().toList();
                action.accept(entries.get(names.get(step.pick % names.size())));
            }
        }

        private void free(LedgerEntry entry) {
            naive.free(naiveOf(entry), now);
            assertThat(ledger.free(entry, now)).isTrue();
            forget(entry);
        }

        private void forget(LedgerEntry entry) {
            entries.remove(entry.id().selectionId());
            over.add(entry);
        }

        private void removeRow(int row) {
            List<BookingId> expected = naive.live.values().stream()
                    .filter(entry -> entry.row == row)
                    .map(entry -> entry.terms.id())
                    .toList();
            List<LedgerEntry> dropped = ledger.removeRow(row, now);
            assertThat(dropped).extracting(LedgerEntry::id).containsExactlyElementsOf(expected);
            dropped.forEach(entry -> {
                naive.free(naiveOf(entry), now);
                forget(entry);
            });
        }

        private void expire() {
            List<LedgerEntry> expired = ledger.expire(now);
            expired.forEach(this::forget);
            assertThat(expired).extracting(LedgerEntry::id).containsExactlyInAnyOrderElementsOf(naive.expire(now));
            assertThat(ledger.nextExpiry()).isGreaterThan(now);
        }

        private void compare(Step step) {
            ledger.checkInvariants();
            assertThat(ledger.size()).isEqualTo(naive.live.size());
            int[] depths = new int[Math.max(rows, ledger.rows())];
            Arrays.fill(depths, 77);
            ledger.project(step.prompt.stream().mapToLong(Long::longValue).toArray(), step.prompt.size(), depths);
            for (int row = 0; row < ledger.rows(); row++) {
                assertThat(depths[row]).as("depth on row %s", row).isEqualTo(naive.depth(row, step.prompt));
                assertThat(ledger.load(row, now))
                        .as("load of row %s", row)
                        .isEqualTo(new RankLoad(
                                naive.prefillTokens(row, now), naive.decodeBlocks(row), naive.requests(row)));
            }
            for (LedgerEntry entry : over) {
                assertThat(ledger.find(entry.id())).isNull();
                assertThat(ledger.free(entry, now)).isFalse();
                assertThat(ledger.markPrefill(entry, now)).isEqualTo(PrefillMark.GONE);
                assertThat(ledger.addOutputBlocks(entry, 1, 0.5, now)).isFalse();
                assertThat(ledger.touch(entry, now)).isFalse();
            }
        }
    }
}
