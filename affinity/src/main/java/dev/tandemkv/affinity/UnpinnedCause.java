package dev.tandemkv.affinity;

/** Why a request with a session id routes without its session. */
public enum UnpinnedCause {
    /** The table holds its maximum of sessions. */
    TABLE_FULL,
    /** As many requests as may wait are waiting for this session already. */
    TOO_MANY_WAITERS,
    /** The bound worker left and the session moved on twice while the request looked for its place. */
    LOST_FAILOVER
}
