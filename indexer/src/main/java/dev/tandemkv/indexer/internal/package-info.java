/** The prefix index itself; not exported. */
package dev.tandemkv.indexer.internal;
