/**
 * Which worker serves a request, and what is booked on it.
 *
 * <p>Starting points: a {@link dev.tandemkv.selection.SelectRequest} asks, a {@link dev.tandemkv.selection.Selection} answers, a
 * {@link dev.tandemkv.selection.Booking} is what must be released; {@link dev.tandemkv.selection.SelectionPool} is the port that a
 * coordinator drives.
 */
package dev.tandemkv.selection;
