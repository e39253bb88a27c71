/**
 * An engine that a gateway can send requests to: answers over HTTP, as server-sent events where asked for, and announces what it caches. Its
 * event sockets are the caller's, so that nothing here depends on a transport.
 */
@NullMarked
package dev.tandemkv.testkit.engine.http;

import org.jspecify.annotations.NullMarked;
