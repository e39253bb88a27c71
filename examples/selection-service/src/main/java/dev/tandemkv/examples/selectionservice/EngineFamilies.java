package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.catalog.BadRequestException;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** {@code --engine-family}: whose events all workers publish, because the events themselves do not tell. */
final class EngineFamilies {

    private EngineFamilies() {}

    /** @throws BadRequestException if there is no such family */
    static EventSource.Lookup of(@Nullable String name) {
        EventSource source = name == null ? EventSource.UNKNOWN : EventSource.of(named(name));
        return (worker, rank) -> source;
    }

    private static EngineFamily named(String name) {
        String constant = name.replace('-', '_').toUpperCase(Locale.ROOT);
        return Arrays.stream(EngineFamily.values())
                .filter(family -> family.name().equals(constant))
                .findFirst()
                .orElseThrow(() ->
                        new BadRequestException("--engine-family", name, "vllm, sglang, tensorrt-llm or unknown"));
    }
}
