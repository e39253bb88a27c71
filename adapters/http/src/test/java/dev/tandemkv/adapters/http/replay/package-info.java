/** Recorded conversations of the peer's service, replayed against ours row by row. */
@NullMarked
package dev.tandemkv.adapters.http.replay;

import org.jspecify.annotations.NullMarked;
