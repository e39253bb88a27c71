/** The KV events of inference engines over ZeroMQ, into the indexes of a core. */
@NullMarked
package dev.tandemkv.adapters.zmq;

import org.jspecify.annotations.NullMarked;
