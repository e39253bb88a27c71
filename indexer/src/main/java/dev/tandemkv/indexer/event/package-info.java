/** What engines say about their caches, in which order, and whether anything was missed. */
package dev.tandemkv.indexer.event;
