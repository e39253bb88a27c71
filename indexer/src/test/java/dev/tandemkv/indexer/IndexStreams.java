package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/** Random event streams over a tiny world of paths, so that ranks meet, diverge, leave holes and come back. Every action stands for itself. */
final class IndexStreams {

    private IndexStreams() {}

    /** How an external hash is made from a path. */
    enum Naming {
        /** The same on every rank. */
        SHARED,
        /** Different on every rank. */
        OWN,
        /** From a handful of values, so that one hash stands at many places. */
        FEW
    }

    enum Kind {
        STORE,
        REMOVE,
        CLEAR,
        REMOVE_RANK,
        REMOVE_WORKER,
        REGISTER,
        STORE_LOWER,
        REMOVE_LOWER
    }

    /** One event: the blocks are those of {@code path} from {@code from} on. */
    record Action(Kind kind, int rank, List<Integer> path, int from, Naming naming, int variant) {

        long[] locals(int length) {
            long[] locals = new long[length];
            for (int i = 0; i < length; i++) {
                locals[i] = path.get(i);
            }
            return locals;
        }

        int start() {
            return Math.min(from, path.size());
        }

        long ext(int depth) {
            long h = naming == Naming.OWN ? 1000 + rank : 77;
            for (int i = 0; i <= depth; i++) {
                h = SeededRandom.mix(h * 31 + path.get(i));
            }
            return naming == Naming.FEW ? Long.remainderUnsigned(h, 9) - 1 : h;
        }

        @Nullable
        Long parent() {
            return start() == 0 ? null : (Long) ext(start() - 1);
        }

        long[] exts() {
            long[] exts = new long[path.size() - start()];
            for (int i = 0; i < exts.length; i++) {
                exts[i] = ext(start() + i);
            }
            return exts;
        }

        long[] blockLocals() {
            return Arrays.copyOfRange(locals(path.size()), start(), path.size());
        }
    }

    /** What the index is built from. {@code bystanders} ranks are registered first and hold a common prefix. */
    record Setup(HolePolicy holes, int bystanders, int memory, SourceTraits traits, int shards) {
        PrefixIndex index(RandomGenerator random) {
            return PrefixIndex.builder()
                    .holePolicy(holes)
                    .rememberedPerRank(memory)
                    .defaultTraits(traits)
                    .random(random)
                    .shards(shards)
                    .build();
        }

        Setup with(int ofShards) {
            return new Setup(holes, bystanders, memory, traits, ofShards);
        }
    }

    static Arbitrary<SourceTraits> traits() {
        return Arbitraries.of(
                SourceTraits.DEFAULT,
                SourceTraits.COUNTS_COPIES,
                new SourceTraits(DuplicatePolicy.COUNT_COPIES, SourceTraits.FullReports.NEVER));
    }

    static Arbitrary<Setup> setups() {
        return Combinators.combine(
                        Arbitraries.of(HolePolicy.values()),
                        Arbitraries.frequencyOf(
                                Tuple.of(4, Arbitraries.just(0)),
                                Tuple.of(2, Arbitraries.of(60, 62)),
                                Tuple.of(1, Arbitraries.of(130, 300))),
                        Arbitraries.of(2, 65_536),
                        traits())
                .as((holes, bystanders, memory, traits) -> new Setup(holes, bystanders, memory, traits, 1));
    }

    static Arbitrary<List<Action>> streams(int most, int depth) {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(50, Kind.STORE),
                Tuple.of(25, Kind.REMOVE),
                Tuple.of(1, Kind.CLEAR),
                Tuple.of(1, Kind.REMOVE_RANK),
                Tuple.of(1, Kind.REMOVE_WORKER),
                Tuple.of(1, Kind.REGISTER),
                Tuple.of(6, Kind.STORE_LOWER),
                Tuple.of(3, Kind.REMOVE_LOWER));
        Arbitrary<List<Integer>> paths = Arbitraries.frequency(Tuple.of(6, 0), Tuple.of(2, 1), Tuple.of(1, -1))
                .list()
                .ofMinSize(0)
                .ofMaxSize(depth);
        Arbitrary<Naming> namings =
                Arbitraries.frequency(Tuple.of(6, Naming.SHARED), Tuple.of(3, Naming.OWN), Tuple.of(1, Naming.FEW));
        return Combinators.combine(
                        kinds,
                        Arbitraries.integers().between(0, 7),
                        paths,
                        Arbitraries.frequencyOf(
                                Tuple.of(2, Arbitraries.just(0)),
                                Tuple.of(3, Arbitraries.integers().between(1, depth - 1))),
                        namings,
                        Arbitraries.integers().between(0, 11))
                .as(Action::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(most);
    }

    /** Two ranks on most workers, so that removing a worker takes several. */
    static WorkerRank rank(int i) {
        return new WorkerRank(i / 2 == 3 ? -1L : i / 2, i % 2);
    }
}
