package dev.tandemkv.coordinator.host;

/** What becomes of staged KV when the client has left; depends on the engine family. */
public enum DisconnectPolicy {
    /** Decode is still dispatched and its output drained: only that frees the KV. */
    DISPATCH_AND_DRAIN,
    /** The engine can be told: the KV is cleaned up at once. */
    ABORT,
    /** The engine frees it by itself at its deadline. */
    LET_EXPIRE
}
