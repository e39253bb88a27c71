/**
 * Which identity a block of tokens has. One set of functions serves requests and events alike, so that both sides derive the same hashes.
 *
 * <p>Starting points: {@link dev.tandemkv.indexer.hash.BlockHasher} for a partition's geometry, {@link
 * dev.tandemkv.indexer.hash.HashScope} for adapter and tenant, {@link dev.tandemkv.indexer.hash.HashedPrompt} for a request.
 */
package dev.tandemkv.indexer.hash;
