package dev.tandemkv.benchmarks.architecture;

import dev.tandemkv.catalog.PartitionKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Classes that break one rule each, so that the rules are seen to bite. */
final class Offenders {

    private Offenders() {}

    static final class ReadsTheClock {
        long now() {
            return System.nanoTime();
        }
    }

    static final class RollsADie {
        int roll() {
            return new Random().nextInt(6);
        }
    }

    static final class RunsOnTheCommonPool {
        CompletableFuture<Void> run(Runnable work) {
            return CompletableFuture.runAsync(work);
        }
    }

    static final class Reflects {
        Class<?> find(String name) throws ClassNotFoundException {
            return Class.forName(name);
        }
    }

    static final class HoldsAStaticMap {
        static final HashMap<String, PartitionKey> SEEN = new HashMap<>();
    }

    static final class HoldsAStaticVariable {
        static int count;

        Map<String, Integer> counted() {
            return Map.of("count", count++);
        }
    }
}
