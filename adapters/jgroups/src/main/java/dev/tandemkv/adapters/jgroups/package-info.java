/** Gateways form a group and tell each other their bookings and session bindings over JGroups. */
@NullMarked
package dev.tandemkv.adapters.jgroups;

import org.jspecify.annotations.NullMarked;
