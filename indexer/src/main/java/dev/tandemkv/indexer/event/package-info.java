/**
 * What engines say about their caches, in which order, and whether anything was missed. No transport and no wire format: an adapter decodes
 * batches and offers them to an {@link dev.tandemkv.indexer.event.IndexFeed}, which keeps a partition's index in step with its engines.
 */
package dev.tandemkv.indexer.event;
