/** The frontend shape: prefill, then decode, with linked bookings. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.examples.frontend;
