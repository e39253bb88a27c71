package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.Prompt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a prompt, which stand among the other fields of a request. What they mean together is decided by {@link #prompt}, after the
 * partition was found ready: a missing worker is told before an unfit prompt.
 */
public final class PromptFields {

    private static final long[] NO_OBJECTS = {};

    private int @Nullable [] tokenIds;
    private List<long[]> blockObjects = List.of();
    private int @Nullable [] routingTokenIds;
    private List<long[]> routingObjects = List.of();
    private long @Nullable [] blockHashes;
    private long @Nullable [] sequenceHashes;
    private @Nullable Long islTokens;
    private @Nullable String loraName;
    private @Nullable String cacheSalt;
    private @Nullable Boolean eagle;

    boolean take(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "token_ids" -> tokenIds = body.isNull() ? null : body.unsigned32List(name);
            case "mm_routing_info" -> readRoutingInfo(body);
            case "block_mm_infos" -> blockObjects = readInfos(name, body);
            case "block_hashes" -> blockHashes = body.isNull() ? null : body.bits64List(name);
            case "sequence_hashes" -> sequenceHashes = body.isNull() ? null : body.bits64List(name);
            case "isl_tokens" -> islTokens = body.unsigned64OrNull(name);
            case "lora_name" -> loraName = body.textOrNull(name);
            case "cache_salt" -> cacheSalt = body.textOrNull(name);
            case "is_eagle" -> eagle = body.flagOrNull(name);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void readRoutingInfo(JsonBody body) throws IOException, WireException {
        if (body.isNull()) {
            return;
        }
        String place = "mm_routing_info";
        body.object(place, name -> {
            switch (name) {
                case "routing_token_ids" -> routingTokenIds = body.unsigned32List(place + '.' + name);
                case "block_mm_infos" -> routingObjects = readInfos(place + '.' + name, body);
                default -> {
                    return false;
                }
            }
            return true;
        });
        if (routingTokenIds == null) {
            throw WireException.misshapen(place + ".routing_token_ids", "missing", "a list");
        }
    }

    private static List<long[]> readInfos(String place, JsonBody body) throws IOException, WireException {
        List<long[]> ofBlocks = new ArrayList<>();
        if (!body.isNull()) {
            body.list(place, at -> ofBlocks.add(body.isNull() ? NO_OBJECTS : readObjects(at, body)));
        }
        return ofBlocks;
    }

    private static long[] readObjects(String place, JsonBody body) throws IOException, WireException {
        List<Long> hashes = new ArrayList<>();
        List<String> present = new ArrayList<>();
        body.object(place, name -> {
            if (!name.equals("mm_objects")) {
                return false;
            }
            present.add(name);
            body.list(place + '.' + name, at -> hashes.add(readObject(at, body)));
            return true;
        });
        if (present.isEmpty()) {
            throw WireException.misshapen(place + ".mm_objects", "missing", "a list");
        }
        return hashes.stream().mapToLong(Long::longValue).toArray();
    }

    private static Long readObject(String place, JsonBody body) throws IOException, WireException {
        List<Long> hash = new ArrayList<>();
        List<String> offsets = new ArrayList<>();
        body.object(place, name -> {
            switch (name) {
                case "mm_hash" -> hash.add(body.bits64(place + '.' + name));
                case "offsets" -> {
                    offsets.add(name);
                    body.list(place + '.' + name, at -> readSpan(at, body));
                }
                default -> {
                    return false;
                }
            }
            return true;
        });
        if (hash.isEmpty() || offsets.isEmpty()) {
            throw WireException.misshapen(
                    place + (hash.isEmpty() ? ".mm_hash" : ".offsets"), "missing", "hash and offsets of an object");
        }
        return hash.get(0);
    }

    /** Where the object lies in its block; nothing here depends on it. */
    private static void readSpan(String place, JsonBody body) throws IOException, WireException {
        List<Long> span = new ArrayList<>();
        body.list(place, at -> span.add(body.unsigned64(at)));
        if (span.size() != 2) {
            throw WireException.misshapen(place, span.size() + " numbers", "start and end");
        }
    }

    // ---- meaning

    /**
     * What of the length does not fit the library's signed lengths. Added back to the lengths of the answer, so that a client reads the
     * length it wrote.
     */
    public long islExcess() {
        return tokens() == null && islTokens != null && islTokens < 0 ? islTokens - Long.MAX_VALUE : 0;
    }

    /** @throws BadRequestException naming the field that is missing or unfit */
    public Prompt prompt() {
        Prompt.Tokens tokens = tokens();
        if (tokens != null) {
            return tokens;
        }
        return hashes(required("block_hashes", blockHashes));
    }

    /** Whether it says under which keys an index finds the prompt: by its tokens or by block hashes. */
    public boolean hasIndexKeys() {
        return tokens() != null || blockHashes != null;
    }

    /** As {@link #prompt}, where the index keys are not needed. */
    public Prompt promptForReservation() {
        Prompt.Tokens tokens = tokens();
        if (tokens != null) {
            return tokens;
        }
        long[] booked = required("sequence_hashes", sequenceHashes);
        // Without index keys nothing is looked up or learned by such a booking, so any of the right number will do.
        return hashes(blockHashes == null ? booked : blockHashes);
    }

    private Prompt.@Nullable Tokens tokens() {
        if (routingTokenIds != null && routingTokenIds.length > 0) {
            return new Prompt.Tokens(routingTokenIds, routingObjects, loraName, cacheSalt, eagle);
        }
        return tokenIds == null ? null : new Prompt.Tokens(tokenIds, blockObjects, loraName, cacheSalt, eagle);
    }

    private Prompt.Hashes hashes(long[] indexKeys) {
        long[] booked = required("sequence_hashes", sequenceHashes);
        if (islTokens == null) {
            throw new BadRequestException("isl_tokens", "missing", "a length, where there are no token_ids");
        }
        long length = islTokens < 0 ? Long.MAX_VALUE : islTokens;
        return new Prompt.Hashes(indexKeys, booked, length, loraName, cacheSalt, eagle);
    }

    private static long[] required(String field, long @Nullable [] hashes) {
        if (hashes == null) {
            throw new BadRequestException(field, "missing", "hashes, where there are no token_ids");
        }
        return hashes;
    }
}
