/** How one request goes through the core: claim, session, hashes, lookup, partition step, booking, installation; and how it is withdrawn. */
package dev.tandemkv.selection.internal.run;
