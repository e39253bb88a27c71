/**
 * Time, later work, randomness and cancellation as injected ports, each with a real and a virtual implementation. Nothing in the library
 * reads a clock or starts a thread by itself.
 */
package dev.tandemkv.catalog.time;
