/**
 * Linked bookings over two pools: {@link dev.tandemkv.coordinator.DisaggCoordinator} books a prefill worker and a decode worker for one
 * request, keeps the pair consistent, and frees both on every exit path.
 *
 * <p>There is no transaction across the pools. Every partial result is a state of {@link
 * dev.tandemkv.coordinator.LinkedBookingState}, and every failure is compensated from there.
 */
package dev.tandemkv.coordinator;
