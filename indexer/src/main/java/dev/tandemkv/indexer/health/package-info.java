/** Whether the cache signal deserves to be believed: the rungs of degradation, the alarm for a dead or mismatched signal, the hash self-check. */
package dev.tandemkv.indexer.health;
