/** What an endpoint picker adds to a request: alone, and behind a real Envoy. */
@NullMarked
package dev.tandemkv.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
