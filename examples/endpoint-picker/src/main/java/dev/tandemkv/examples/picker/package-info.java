/** The endpoint picker as a process, and a quickstart that shows one routed request. */
@NullMarked
package dev.tandemkv.examples.picker;

import org.jspecify.annotations.NullMarked;
