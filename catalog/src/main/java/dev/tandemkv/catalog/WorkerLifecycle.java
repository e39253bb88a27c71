package dev.tandemkv.catalog;

/** Where a worker stands between registration and removal. */
public enum WorkerLifecycle {
    /** Registered, but metadata is missing or conflicts; never selected. The record lists the reasons. */
    INCOMPLETE("incomplete"),
    /** May be selected. */
    SCHEDULABLE("schedulable"),
    /** Takes no new bookings; those it has stay until they are freed. */
    DRAINING("unschedulable"),
    /** Removed; seen only in the answer of the removal. */
    UNSCHEDULABLE("unschedulable");

    private final String wireName;

    WorkerLifecycle(String wireName) {
        this.wireName = wireName;
    }

    /** The word used on the wire, where draining and removed are one. */
    public String wireName() {
        return wireName;
    }
}
