package dev.tandemkv.affinity;

/** What became of a record that a replica sent. */
public enum ReplicaApplyOutcome {
    /** The session was unknown here and is bound now. */
    INSERTED,
    /** The same binding, at least as new: it lives on. */
    REFRESHED,
    /** A newer binding took the place of the held one. */
    REPLACED_NEWER,
    /** The held binding had expired; the record took its place, whatever its version. */
    REPLACED_EXPIRED,
    /** A tombstone ended the held binding. */
    REMOVED,
    /** A tombstone for a session that is not bound here; remembered against late updates. */
    REMEMBERED,
    /** The held binding, or the tombstone remembered for it, is newer. */
    IGNORED_CONFLICT,
    /** A request is making the session's first dispatch here; its commit decides. */
    IGNORED_INITIALIZING,
    /** Published by this replica itself. */
    IGNORED_SELF,
    /** For another partition's table. */
    IGNORED_PARTITION,
    /** The worker is not live here. */
    IGNORED_TARGET,
    /** The table is full. */
    REJECTED_CAPACITY,
    /** The session id is longer than this table takes. */
    REJECTED_SESSION_ID,
    /** From too far in the future; the local version clock was not advanced. */
    REJECTED_SKEW,
    /** The table is closed. */
    REJECTED_CLOSED
}
