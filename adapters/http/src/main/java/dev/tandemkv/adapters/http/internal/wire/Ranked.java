package dev.tandemkv.adapters.http.internal.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker and perhaps one of its ranks, as an object of two fields.
 *
 * @param workerId unsigned
 * @param dpRank unsigned, or {@code null}
 */
record Ranked(long workerId, @Nullable Integer dpRank) {

    static Ranked read(String place, JsonBody body) throws IOException, WireException {
        List<Long> id = new ArrayList<>();
        List<Integer> rank = new ArrayList<>();
        body.object(place, name -> {
            switch (name) {
                case "worker_id" -> id.add(body.bits64(place + '.' + name));
                case "dp_rank" -> {
                    if (!body.isNull()) {
                        rank.add(body.unsigned32(place + '.' + name));
                    }
                }
                default -> {
                    return false;
                }
            }
            return true;
        });
        if (id.isEmpty()) {
            throw WireException.misshapen(place + ".worker_id", "missing", "a 64-bit integer");
        }
        return new Ranked(id.get(0), rank.isEmpty() ? null : rank.get(0));
    }
}
