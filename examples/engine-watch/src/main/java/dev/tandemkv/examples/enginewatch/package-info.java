/** Shows what a running engine caches, live; or what a capture of its events says; or runs a fake engine to look at. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.examples.enginewatch;
