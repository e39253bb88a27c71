/** The main job: a real trace through every routing policy, and the first lines of code that use the library. */
@NullMarked
package dev.tandemkv.examples.quickstart;

import org.jspecify.annotations.NullMarked;
