package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.RouterConfigOverride;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads {@code router_config_override}. A value that is out of range is a fault of shape here. */
final class OverrideReader {

    private static final String PLACE = "router_config_override";

    private @Nullable Double credit;
    private @Nullable Double scale;
    private @Nullable Double temperature;
    private @Nullable Boolean assumeReuse;
    private @Nullable Boolean trackPrefill;
    private @Nullable Double sharedMultiplier;
    private @Nullable Double formerWeight;

    private OverrideReader() {}

    static RouterConfigOverride read(JsonBody body) throws IOException, WireException {
        if (body.isNull()) {
            return RouterConfigOverride.NONE;
        }
        OverrideReader reader = new OverrideReader();
        body.object(PLACE, name -> reader.take(name, body));
        return reader.made();
    }

    private boolean take(String name, JsonBody body) throws IOException, WireException {
        String place = PLACE + '.' + name;
        switch (name) {
            case "overlap_score_credit" -> credit = body.numberOrNull(place);
            case "prefill_load_scale" -> scale = body.numberOrNull(place);
            case "router_temperature" -> temperature = body.numberOrNull(place);
            case "assume_kv_reuse" -> assumeReuse = body.flagOrNull(place);
            case "track_prefill_tokens" -> trackPrefill = body.flagOrNull(place);
            case "shared_cache_multiplier" -> sharedMultiplier = body.numberOrNull(place);
            case "overlap_score_weight" -> formerWeight = body.numberOrNull(place);
            default -> {
                return false;
            }
        }
        return true;
    }

    private RouterConfigOverride made() throws WireException {
        if (formerWeight != null) {
            // One knob once: it is the prefill scale, and 0 also turns the credit off.
            scale = scale == null ? formerWeight : scale;
            credit = credit == null && formerWeight == 0 ? formerWeight : credit;
        }
        try {
            return new RouterConfigOverride(credit, scale, temperature, assumeReuse, trackPrefill, sharedMultiplier);
        } catch (BadRequestException e) {
            throw WireException.misshapen(e.field(), e.value(), e.expectation());
        }
    }
}
