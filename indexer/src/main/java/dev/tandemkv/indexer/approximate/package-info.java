/**
 * What is assumed without events: a worker that was sent a prompt will hold its blocks, for a while or as long as its cache has room. The
 * assumptions live beside the index of real events and never in it.
 */
package dev.tandemkv.indexer.approximate;
