package dev.tandemkv.affinity;

/** Who kept the bound worker out of a selection. */
public enum FilteredBy {
    /** The host's policy: it would do so for every request of the session. */
    POLICY,
    /** A constraint of the request itself. */
    REQUEST
}
