/** Which workers are registered, what keeps them from being chosen, and how a change reaches their partition. */
package dev.tandemkv.selection.internal.membership;
