/** Who may choose, book and change membership in one partition, and when. */
package dev.tandemkv.selection.internal.partition;
