/** The selection service as a process of its own. */
@NullMarked
package dev.tandemkv.examples.selectionservice;

import org.jspecify.annotations.NullMarked;
