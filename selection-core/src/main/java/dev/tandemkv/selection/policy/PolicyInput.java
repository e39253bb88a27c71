package dev.tandemkv.selection.policy;

/** What a component reads of the candidates. It gets what it declared and nothing else; the host computes the union only. */
public enum PolicyInput {
    /** What each candidate caches of the prompt: {@link Candidates#cache()}. */
    CACHE,
    /** What is booked on each candidate: {@link Candidates#load()}, and {@link Candidates#requests()} with it. */
    LOAD,
    /** How much the request prefers each candidate's taints: {@link Candidates#preferredTaints()}. */
    PREFERRED_TAINT,
    /** How many requests are booked on each candidate: {@link Candidates#requests()}. */
    ACTIVE_REQUEST_LOAD
}
