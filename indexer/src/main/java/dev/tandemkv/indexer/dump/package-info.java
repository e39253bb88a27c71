/**
 * How an index leaves a process and comes back: a versioned form of our own with everything a warm restart needs, and the form that peers
 * exchange, which holds events alone.
 */
package dev.tandemkv.indexer.dump;
