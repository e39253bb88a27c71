package dev.tandemkv.selection.internal.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Projection over many holders, where nodes know their rows by bits. */
class SharedPrefixTreePropertyTest {

    private record Booked(int row, long[] prompt, PrefixNode terminal) {}

    @Property(tries = 60)
    void project_manyRowsShareNestedPrefixes_equalsTheLongestCommonPrefix(
            @ForAll long seed, @ForAll @IntRange(min = 2, max = 200) int rows) {
        SeededRandom random = new SeededRandom(seed);
        SharedPrefixTree tree = new SharedPrefixTree(random.nextLong());
        tree.ensureRows(rows);
        List<Booked> live = new ArrayList<>();
        for (int step = 0; step < 400; step++) {
            if (live.size() > 250 || (!live.isEmpty() && random.nextInt(3) == 0)) {
                Booked gone = live.remove(random.nextInt(live.size()));
                tree.remove(gone.row, gone.terminal);
            } else {
                int row = random.nextInt(rows);
                long[] prompt = prompt(random);
                live.add(new Booked(row, prompt, tree.add(row, prompt, prompt.length)));
            }
            if (step % 40 == 0) {
                tree.checkInvariants();
                compare(tree, live, prompt(random), rows);
            }
        }
        live.forEach(booked -> tree.remove(booked.row, booked.terminal));
        assertThat(tree.nodes()).isZero();
        tree.checkInvariants();
    }

    /** Mostly one long chain, left at some point for a block of its own. */
    private static long[] prompt(SeededRandom random) {
        long[] prompt = new long[1 + random.nextInt(12)];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        if (random.nextInt(3) == 0) {
            prompt[random.nextInt(prompt.length)] = 100 + random.nextInt(3);
        }
        return prompt;
    }

    private static void compare(SharedPrefixTree tree, List<Booked> live, long[] prompt, int rows) {
        int[] expected = new int[rows];
        for (Booked booked : live) {
            int same = Arrays.mismatch(booked.prompt, prompt);
            int depth = same < 0 ? prompt.length : same;
            expected[booked.row] = Math.max(expected[booked.row], depth);
        }
        int[] depths = new int[rows];
        tree.project(prompt, prompt.length, depths, rows);
        assertThat(depths).isEqualTo(expected);
    }
}
