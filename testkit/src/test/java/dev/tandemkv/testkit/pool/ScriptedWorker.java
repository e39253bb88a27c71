package dev.tandemkv.testkit.pool;

import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A worker's response whose every signal the test decides: it keeps to what was asked for, unless the test has it break the rules. An item
 * is the number of its tokens.
 */
final class ScriptedWorker implements Flow.Publisher<Integer> {

    /** How it receives its subscriber. */
    enum Manner {
        PLAIN,
        /** Never answers the subscription. */
        SILENT,
        /** Throws instead. */
        THROWS,
        /** Answers twice. */
        TWICE
    }

    private final Manner manner;
    private Flow.@Nullable Subscriber<? super Integer> subscriber;
    private long asked;
    private boolean cancelled;
    private boolean ended;
    private int refusedTwins;

    ScriptedWorker(Manner manner) {
        this.manner = manner;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super Integer> candidate) {
        subscriber = candidate;
        switch (manner) {
            case SILENT -> {}
            case THROWS -> {
                ended = true;
                throw new IllegalStateException("no stream");
            }
            case PLAIN -> candidate.onSubscribe(new Link());
            case TWICE -> {
                candidate.onSubscribe(new Link());
                candidate.onSubscribe(new Twin());
            }
        }
    }

    private final class Link implements Flow.Subscription {
        @Override
        public void request(long n) {
            asked = asked + n < 0 ? Long.MAX_VALUE : asked + n;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private final class Twin implements Flow.Subscription {
        @Override
        public void request(long n) {
            throw new IllegalStateException("a second subscription is used");
        }

        @Override
        public void cancel() {
            refusedTwins++;
        }
    }

    void emit(int tokens) {
        Flow.Subscriber<? super Integer> to = subscriber;
        if (to != null && isRunning() && asked > 0) {
            asked--;
            to.onNext(tokens);
        }
    }

    void complete() {
        Flow.Subscriber<? super Integer> to = subscriber;
        if (to != null && isRunning()) {
            ended = true;
            to.onComplete();
        }
    }

    void fail() {
        Flow.Subscriber<? super Integer> to = subscriber;
        if (to != null && isRunning()) {
            ended = true;
            to.onError(new IllegalStateException("engine died"));
        }
    }

    /** Signals after its end, as no publisher may. */
    void haunt(int how) {
        Flow.Subscriber<? super Integer> to = subscriber;
        if (to != null && ended && manner != Manner.THROWS) {
            switch (how) {
                case 0 -> to.onNext(1);
                case 1 -> to.onComplete();
                default -> to.onError(new IllegalStateException("from the grave"));
            }
        }
    }

    private boolean isRunning() {
        return manner != Manner.SILENT && !ended && !cancelled;
    }

    /** Whether a worker still produces for nobody. */
    boolean isLeftRunning() {
        return isRunning() || (manner == Manner.TWICE && refusedTwins == 0 && !ended && !cancelled);
    }
}
