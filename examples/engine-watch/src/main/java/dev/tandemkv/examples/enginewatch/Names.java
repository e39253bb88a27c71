package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.indexer.event.Exactness;
import java.util.Locale;

/** How things are called on the command line and on the screen. */
final class Names {

    private Names() {}

    static String of(EngineFamily family) {
        return family.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String of(Exactness exactness) {
        if (exactness instanceof Exactness.Degraded degraded) {
            return "DEGRADED (" + degraded.reason().name().toLowerCase(Locale.ROOT) + ", "
                    + (degraded.direction() == Exactness.Direction.UNDERCOUNT
                            ? "holds this or more"
                            : "may list blocks that are gone")
                    + ')';
        }
        return exactness.kind().name();
    }
}
