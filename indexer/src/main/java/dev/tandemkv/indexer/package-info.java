/** What each rank holds of a prompt: the prefix index and the types its answers are made of. */
package dev.tandemkv.indexer;
