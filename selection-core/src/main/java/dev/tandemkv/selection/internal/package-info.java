/** How the parts of a core are put together. */
package dev.tandemkv.selection.internal;
