package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Acquired.Use;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * What one open handle holds in the table: the first dispatch of a session ({@code use} is {@code null}), or one use of a binding.
 * Refers to its handle only weakly, so that a forgotten handle is noticed.
 *
 * <p>The monitor guards {@code use} and {@code ended}: a claim ends once, whichever of commit, close, leak sweep comes first. It is held
 * across a step of the table, which calls nothing foreign, and never across the step's effects.
 */
final class Claim extends WeakReference<Object> {

    final String sessionId;
    final long revision;
    final long openedAt;

    @Nullable
    Use use;

    boolean ended;
    /** Set once a booking owns the handle; then age alone does not end it. */
    volatile boolean owned;

    Claim(
            Object handle,
            ReferenceQueue<Object> lost,
            String sessionId,
            long revision,
            @Nullable Use use,
            long openedAt) {
        super(handle, lost);
        this.sessionId = sessionId;
        this.revision = revision;
        this.use = use;
        this.openedAt = openedAt;
    }
}
