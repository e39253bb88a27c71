/** The session table's state machine and what it is made of; not part of the API. */
package dev.tandemkv.affinity.internal;
