/** What a decision costs over HTTP. */
@NullMarked
package dev.tandemkv.benchmarks.http;

import org.jspecify.annotations.NullMarked;
