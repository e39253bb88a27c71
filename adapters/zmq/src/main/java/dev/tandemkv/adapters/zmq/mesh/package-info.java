/** Replicas of a gateway tell each other their bookings and session bindings over ZeroMQ. */
@NullMarked
package dev.tandemkv.adapters.zmq.mesh;

import org.jspecify.annotations.NullMarked;
