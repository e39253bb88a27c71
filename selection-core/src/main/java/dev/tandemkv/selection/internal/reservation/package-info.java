/** Who holds which selection id: claims, live reservations, replayable selections, and handles that were lost. */
package dev.tandemkv.selection.internal.reservation;
