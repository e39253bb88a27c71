package dev.tandemkv.examples.selectionservice;

import java.util.ArrayDeque;
import java.util.Deque;

/** What a process has started; closing it ends all of it, last first. Not thread-safe but for {@link #close}. */
final class Parts implements AutoCloseable {

    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    void add(AutoCloseable part) {
        started.push(part);
    }

    /** A thread that keeps no process alive. */
    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "tandemkv-timer");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public synchronized void close() {
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                System.err.println("while closing: " + e);
            }
        }
    }
}
