/** What decoded engine events mean: filtered, completed with what the rank said before, hashed, as neutral events of the indexer. */
@NullMarked
package dev.tandemkv.adapters.enginewire.neutral;

import org.jspecify.annotations.NullMarked;
