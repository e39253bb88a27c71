package dev.tandemkv.selection.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueuePolicy;
import dev.tandemkv.selection.config.QueueProfile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/** The queue against one that keeps a list and looks at everything every time. */
class AdmissionQueuePropertyTest {

    record Step(int action, int queueClass, int tier, int jump, int pin, int tokens) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, 9),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(-1, 3),
                        Arbitraries.integers().between(0, 4),
                        Arbitraries.integers().between(1, 60))
                .as(Step::new)
                .list()
                .ofMinSize(10)
                .ofMaxSize(150);
    }

    @Property
    void anyInterleaving_equalsNaiveQueue(
            @ForAll("steps") List<Step> steps, @ForAll @IntRange(min = 0, max = 4) int maxOvertakes) {
        new Run(maxOvertakes).play(steps);
    }

    /** What the naive queue knows of a request. */
    private static final class Naive {
        final Waiter<Integer> real;
        final int queueClass;
        final SelectRequest request;
        final long cached;
        final double score;
        int overtaken;

        Naive(Waiter<Integer> real, int queueClass, SelectRequest request, long cached, double score) {
            this.real = real;
            this.queueClass = queueClass;
            this.request = request;
            this.cached = cached;
            this.score = score;
        }

        long cost() {
            return Math.max(1, request.prompt().islTokens() - cached);
        }

        boolean sameLane(Naive other) {
            return queueClass == other.queueClass
                    && Objects.equals(request.pinnedWorker(), other.request.pinnedWorker());
        }
    }

    private static final class Run {
        private static final Comparator<Naive> ORDER = Comparator.<Naive>comparingInt(
                        naive -> -naive.request.strictPriority())
                .thenComparing(naive -> -naive.score)
                .thenComparing(naive -> naive.real.payload());

        private final List<QueueClass> classes = List.of(
                QueueClass.named("a").withQuantum(20),
                QueueClass.named("b").withQuantum(7).withPolicy(QueuePolicy.WSPT),
                QueueClass.named("c").withPolicy(QueuePolicy.LCFS));
        private final int maxOvertakes;
        private final AdmissionQueue<Integer> queue;
        private final List<Naive> waiting = new ArrayList<>();
        private final long[] credit = new long[3];
        private int cursor;
        private int carried = -1;
        private int number;

        Run(int maxOvertakes) {
            this.maxOvertakes = maxOvertakes;
            queue = new AdmissionQueue<>(new QueueProfile(List.of(), "a", classes), maxOvertakes, 0);
        }

        void play(List<Step> steps) {
            for (Step step : steps) {
                apply(step);
                queue.checkInvariants();
                assertThat(queue.pending()).isEqualTo(pending(naive -> true));
                for (int i = 0; i < 3; i++) {
                    int index = i;
                    assertThat(queue.pending(classes.get(i))).isEqualTo(pending(naive -> naive.queueClass == index));
                }
            }
            while (!waiting.isEmpty()) {
                poll(waiter -> true);
            }
            assertThat(queue.isEmpty()).isTrue();
        }

        private Pending pending(Predicate<Naive> which) {
            List<Naive> chosen = waiting.stream().filter(which).toList();
            return new Pending(
                    chosen.size(),
                    chosen.stream()
                            .mapToLong(n -> n.request.prompt().islTokens())
                            .sum(),
                    chosen.stream().mapToLong(n -> n.cached).sum());
        }

        private void apply(Step step) {
            if (step.action < 5) {
                add(step);
            } else if (step.action == 5 && !waiting.isEmpty()) {
                Naive gone = waiting.remove(step.tokens % waiting.size());
                assertThat(queue.cancel(gone.real)).isTrue();
                assertThat(queue.cancel(gone.real)).isFalse();
                forgetCreditIfEmpty(gone.queueClass);
            } else if (step.action == 6) {
                poll(request -> step.pin == 0 || request.pinnedWorker() != null);
            } else if (step.action == 7) {
                poll(request -> request.strictPriority() != step.tier);
            } else {
                poll(request -> true);
            }
        }

        private void add(Step step) {
            WorkerRank pin = step.pin < 3 ? null : WorkerRank.of(step.pin);
            SelectRequest request = SelectRequest.builder(Prompt.ofHashes(new long[0], new long[0], step.tokens))
                    .strictPriority(step.tier)
                    .priorityJump(step.jump)
                    .pinnedWorker(pin)
                    .build();
            long cached = step.tokens % 3 == 0 ? step.tokens : step.tokens / 4;
            long now = number / 2 * 1_000_000_000L;
            double jump = Math.max(0, step.jump);
            long cost = Math.max(1, step.tokens - cached);
            double seconds = now / 1e9;
            double score = switch (step.queueClass) {
                case 0 -> jump - seconds;
                case 1 -> (1 + jump) / cost;
                default -> jump + seconds;
            };
            Waiter<Integer> real = queue.add(classes.get(step.queueClass), request, cached, number++, now);
            waiting.add(new Naive(real, step.queueClass, request, cached, score));
        }

        private void poll(Predicate<SelectRequest> dispatchable) {
            Waiter<Integer> real = queue.poll(waiter -> dispatchable.test(waiter.request()));
            List<Naive> passedOver = openLanes(dispatchable);
            Naive expected = next(dispatchable);
            assertThat(real).isSameAs(expected == null ? null : expected.real);
            if (expected != null) {
                waiting.remove(expected);
                credit[expected.queueClass] -= expected.cost();
                for (Naive other : waiting) {
                    if (other.sameLane(expected) && other.real.payload() < expected.real.payload()) {
                        other.overtaken++;
                    }
                }
                for (Naive oldest : passedOver) {
                    if (oldest.queueClass == expected.queueClass
                            && !oldest.sameLane(expected)
                            && oldest.real.payload() < expected.real.payload()) {
                        oldest.overtaken++;
                    }
                }
                forgetCreditIfEmpty(expected.queueClass);
            }
        }

        /** The oldest of each lane whose head could go. */
        private List<Naive> openLanes(Predicate<SelectRequest> dispatchable) {
            return waiting.stream()
                    .filter(naive -> naive == oldestOfLane(naive))
                    .filter(naive -> dispatchable.test(laneHead(naive).request))
                    .toList();
        }

        private void forgetCreditIfEmpty(int queueClass) {
            if (waiting.stream().noneMatch(naive -> naive.queueClass == queueClass)) {
                credit[queueClass] = 0;
            }
        }

        private @Nullable Naive next(Predicate<SelectRequest> dispatchable) {
            Naive[] heads = new Naive[3];
            boolean any = false;
            for (int i = 0; i < 3; i++) {
                heads[i] = head(i, dispatchable);
                any |= heads[i] != null;
            }
            if (carried >= 0) {
                if (heads[carried] != null && credit[carried] >= heads[carried].cost()) {
                    return heads[carried];
                }
                cursor = (carried + 1) % 3;
                carried = -1;
            }
            if (!any) {
                return null;
            }
            for (int turn = 0; turn < 3; turn++) {
                int i = (cursor + turn) % 3;
                if (heads[i] == null) {
                    continue;
                }
                if (credit[i] < heads[i].cost()) {
                    credit[i] += classes.get(i).quantum();
                }
                if (credit[i] >= heads[i].cost()) {
                    carried = i;
                    return heads[i];
                }
            }
            while (true) {
                for (int i = 0; i < 3; i++) {
                    credit[i] += heads[i] == null ? 0 : classes.get(i).quantum();
                }
                for (int turn = 0; turn < 3; turn++) {
                    int i = (cursor + turn) % 3;
                    if (heads[i] != null && credit[i] >= heads[i].cost()) {
                        carried = i;
                        return heads[i];
                    }
                }
            }
        }

        private @Nullable Naive head(int queueClass, Predicate<SelectRequest> dispatchable) {
            Naive best = null;
            for (Naive candidate : waiting) {
                boolean head = candidate.queueClass == queueClass && candidate == laneHead(candidate);
                if (head && dispatchable.test(candidate.request)) {
                    best = best == null || goesBefore(candidate, best) ? candidate : best;
                }
            }
            return best;
        }

        private boolean goesBefore(Naive head, Naive other) {
            if (forced(head) != forced(other)) {
                return forced(head);
            }
            return forced(head) ? head.real.payload() < other.real.payload() : ORDER.compare(head, other) < 0;
        }

        private boolean forced(Naive member) {
            return oldestOfLane(member).overtaken >= maxOvertakes;
        }

        private Naive oldestOfLane(Naive member) {
            return waiting.stream().filter(member::sameLane).findFirst().orElseThrow();
        }

        private Naive laneHead(Naive member) {
            return forced(member)
                    ? oldestOfLane(member)
                    : waiting.stream().filter(member::sameLane).min(ORDER).orElseThrow();
        }
    }
}
