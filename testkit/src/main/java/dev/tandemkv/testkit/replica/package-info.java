/**
 * Gateways for tests of replication, and the conformance kit that tells whether a {@link dev.tandemkv.selection.host.ReplicaChannel} does
 * what gateways rely on.
 */
@NullMarked
package dev.tandemkv.testkit.replica;

import org.jspecify.annotations.NullMarked;
