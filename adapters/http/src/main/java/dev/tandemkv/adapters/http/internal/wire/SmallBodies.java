package dev.tandemkv.adapters.http.internal.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Bodies of one field. */
public final class SmallBodies {

    private SmallBodies() {}

    /** The fraction of {@code /reservations/{id}/output_block}, if there is one. */
    public static OptionalDouble decayFraction(JsonBody body) throws IOException, WireException {
        List<Double> fraction = new ArrayList<>();
        body.object("request body", name -> {
            if (!name.equals("decay_fraction")) {
                return false;
            }
            if (!body.isNull()) {
                fraction.add(body.number(name));
            }
            return true;
        });
        return fraction.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(fraction.get(0));
    }

    /** One required text. */
    public static JsonBody.Reader<String> text(String field) {
        return body -> {
            List<String> value = new ArrayList<>();
            body.object("request body", name -> {
                if (!name.equals(field)) {
                    return false;
                }
                value.add(body.text(name));
                return true;
            });
            if (value.isEmpty()) {
                throw WireException.misshapen(field, "missing", "a string");
            }
            return value.get(0);
        };
    }
}
