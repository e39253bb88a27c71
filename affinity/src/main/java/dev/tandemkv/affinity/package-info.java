/** Where a session sticks: the table of bindings, how one request drives it, and how replicas agree on it. */
package dev.tandemkv.affinity;
