package dev.tandemkv.affinity;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** Forms of a session id other than the id itself. */
public final class SessionKeys {

    /** No header value can contain this control character, so no client can claim a group's key. */
    private static final String GROUP_PREFIX = "\u0001sg:";

    private static final int DIGEST_BYTES = 8;

    private SessionKeys() {}

    /** What may appear in a log instead of the id: 16 hex digits of its SHA-256. */
    public static String digest(String sessionId) {
        return HexFormat.of().formatHex(Arrays.copyOf(sha256(sessionId), DIGEST_BYTES));
    }

    /** The key under which the sub-agents of one parent session share a binding; of fixed size, whatever the parent's id. */
    public static String subAgentGroup(String parentSessionId) {
        return GROUP_PREFIX + HexFormat.of().formatHex(sha256(parentSessionId));
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
