package dev.tandemkv.testkit.sim;

import java.util.Arrays;

/** Collects a {@link WorkerTimeline}. Not thread-safe. */
final class TimelineRecorder {

    private final long stepNanos;
    private double[] requestNanos = new double[64];
    private long[] inputTokens = new long[64];
    private long[] cachedTokens = new long[64];
    private int inFlight;
    private long since;

    TimelineRecorder(long stepNanos) {
        this.stepNanos = stepNanos;
    }

    void arrived(long now) {
        accountUntil(now);
        inFlight++;
    }

    void left(long now) {
        accountUntil(now);
        inFlight--;
    }

    void admitted(long now, int input, int cached) {
        int step = step(now);
        inputTokens[step] += input;
        cachedTokens[step] += cached;
    }

    private void accountUntil(long now) {
        while (since < now) {
            long stepEnd = Math.min((since / stepNanos + 1) * stepNanos, now);
            int step = step(since);
            requestNanos[step] += (double) inFlight * (stepEnd - since);
            since = stepEnd;
        }
    }

    private int step(long now) {
        int step = (int) (now / stepNanos);
        if (step >= requestNanos.length) {
            int wider = Math.max(step + 1, requestNanos.length * 2);
            requestNanos = Arrays.copyOf(requestNanos, wider);
            inputTokens = Arrays.copyOf(inputTokens, wider);
            cachedTokens = Arrays.copyOf(cachedTokens, wider);
        }
        return step;
    }

    WorkerTimeline finish(String name, long busyNanos, long end) {
        accountUntil(end);
        int steps = (int) (end / stepNanos) + 1;
        step(end);
        double[] load = new double[steps];
        for (int i = 0; i < steps; i++) {
            load[i] = requestNanos[i] / Math.min(stepNanos, Math.max(1, end - i * stepNanos));
        }
        return new WorkerTimeline(
                name, busyNanos / 1e9, load, Arrays.copyOf(inputTokens, steps), Arrays.copyOf(cachedTokens, steps));
    }
}
