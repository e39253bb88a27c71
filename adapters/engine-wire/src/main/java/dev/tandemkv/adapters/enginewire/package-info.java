/** Event bytes of vLLM, SGLang and TensorRT-LLM: decoded to what they say, then turned into the neutral events of the indexer. */
@NullMarked
package dev.tandemkv.adapters.enginewire;

import org.jspecify.annotations.NullMarked;
