package dev.tandemkv.testkit.pool;

import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A client that checks what it is told: one subscription first, no more items than asked for, one end, nothing after it. */
final class RecordingClient implements Flow.Subscriber<Integer> {

    /** What it does with its first item. */
    enum Manner {
        PATIENT,
        CANCELS,
        THROWS
    }

    private final String name;
    private final Manner manner;
    private final List<String> problems;
    private Flow.@Nullable Subscription subscription;
    private long asked;
    private int ends;
    private boolean left;

    RecordingClient(String name, Manner manner, List<String> problems) {
        this.name = name;
        this.manner = manner;
        this.problems = problems;
    }

    void request(int n) {
        Flow.Subscription to = subscription;
        if (to != null) {
            if (n > 0) {
                asked += n;
            }
            to.request(n);
        }
    }

    void cancel() {
        Flow.Subscription to = subscription;
        if (to != null) {
            left = true;
            to.cancel();
        }
    }

    /** Whether the client waits for an end that has to come. */
    boolean waits() {
        return subscription != null && ends == 0 && !left;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        if (subscription != null) {
            problems.add(name + " was subscribed twice");
        }
        subscription = given;
        request(4);
    }

    @Override
    public void onNext(Integer item) {
        asked--;
        if (ends > 0 || left || asked < 0) {
            problems.add(name + " got an item after its end, after it left, or unasked for");
        }
        if (manner == Manner.CANCELS) {
            cancel();
        } else if (manner == Manner.THROWS) {
            left = true;
            throw new IllegalStateException("client");
        }
    }

    @Override
    public void onError(Throwable failure) {
        end();
    }

    @Override
    public void onComplete() {
        end();
    }

    private void end() {
        if (++ends > 1 || left) {
            problems.add(name + " was ended " + ends + " times" + (left ? ", after it left" : ""));
        }
    }
}
