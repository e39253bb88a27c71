package dev.tandemkv.selection;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The conversation a request belongs to.
 *
 * @param sessionId opaque id of the session; may be empty, at most 256 UTF-8 bytes where affinity is on
 * @param parentSessionId session that spawned this one, or {@code null}
 * @param sessionFinal whether the client says that this is its last turn; passed to policies, changes no binding
 * @param inputTrigger what caused the turn, or {@code null}
 */
public record SessionContext(
        String sessionId,
        @Nullable String parentSessionId,
        @Nullable Boolean sessionFinal,
        @Nullable InputTrigger inputTrigger) {

    /** What caused a turn. */
    public enum InputTrigger {
        USER_MESSAGE,
        TOOL_RESULT,
        OTHER
    }

    public SessionContext {
        Objects.requireNonNull(sessionId, "sessionId");
    }

    public static SessionContext of(String sessionId) {
        return new SessionContext(sessionId, null, null, null);
    }

    /** Without the ids: a raw session id never reaches a log. */
    @Override
    public String toString() {
        return "SessionContext[final=" + sessionFinal + ", trigger=" + inputTrigger + ']';
    }
}
