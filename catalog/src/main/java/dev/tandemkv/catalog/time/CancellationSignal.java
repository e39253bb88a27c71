package dev.tandemkv.catalog.time;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells running work that its result is no longer wanted. Thread-safe. A result that is complete when the signal fires wins over it.
 *
 * <p>Whoever wants to cancel keeps the {@link Source}; whoever works looks at the signal.
 */
public abstract sealed class CancellationSignal permits CancellationSignal.Source, CancellationSignal.Never {

    private CancellationSignal() {}

    public abstract boolean isCancelled();

    /**
     * Runs an action once when the signal fires, on the thread that cancels; at once, on this thread, if it has fired already.
     *
     * @return takes the action back; does nothing once it has run
     */
    public abstract Registration onCancel(Runnable action);

    /** A signal that never fires. */
    public static CancellationSignal never() {
        return Never.INSTANCE;
    }

    public static Source source() {
        return new Source();
    }

    /** Undoes {@link #onCancel}. Idempotent. */
    @FunctionalInterface
    public interface Registration extends AutoCloseable {
        @Override
        void close();
    }

    /** The side that fires the signal. */
    public static final class Source extends CancellationSignal {
        private final Object lock = new Object();
        private @Nullable List<Registered> registered = new ArrayList<>();

        private Source() {}

        /**
         * Fires the signal once; later calls do nothing. Actions run here, outside any lock, each of them even if one before it threw;
         * what the first threw comes out, with the others suppressed.
         */
        public void cancel() {
            List<Registered> toRun;
            synchronized (lock) {
                if (registered == null) {
                    return;
                }
                toRun = registered;
                registered = null;
            }
            RuntimeException first = null;
            for (Registered r : toRun) {
                try {
                    r.action.run();
                } catch (RuntimeException e) {
                    if (first == null) {
                        first = e;
                    } else {
                        first.addSuppressed(e);
                    }
                }
            }
            if (first != null) {
                throw first;
            }
        }

        @Override
        public boolean isCancelled() {
            synchronized (lock) {
                return registered == null;
            }
        }

        @Override
        public Registration onCancel(Runnable action) {
            Registered own = new Registered(action);
            synchronized (lock) {
                if (registered != null) {
                    registered.add(own);
                    return () -> remove(own);
                }
            }
            action.run();
            return () -> {};
        }

        private void remove(Registered own) {
            synchronized (lock) {
                if (registered != null) {
                    registered.remove(own);
                }
            }
        }

        /** Compared by identity, so that one action registered twice is two registrations. */
        private static final class Registered {
            private final Runnable action;

            Registered(Runnable action) {
                this.action = action;
            }
        }
    }

    static final class Never extends CancellationSignal {
        private static final Never INSTANCE = new Never();

        private Never() {}

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public Registration onCancel(Runnable action) {
            return () -> {};
        }
    }
}
