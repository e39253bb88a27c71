package dev.tandemkv.selection;

/** What a release found. A release that could not be carried out fails instead. */
public enum FreeOutcome {
    /** The booking was there and is gone now. */
    FREED,
    /** There was no such booking any more. */
    ALREADY_GONE
}
