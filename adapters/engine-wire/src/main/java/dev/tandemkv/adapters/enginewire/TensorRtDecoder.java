package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the dictionaries in which TensorRT-LLM reports what its cache manager did: as maps of text, numbers, lists and maps, such as any
 * JSON library gives, or as MessagePack bytes of one dictionary or a list of them. Unknown keys and unknown kinds of data are skipped.
 *
 * <p>Thread-safe: stateless. Never blocks.
 */
public final class TensorRtDecoder {

    private final WireLimits limits;

    /** @param limits what a payload may contain */
    public TensorRtDecoder(WireLimits limits) {
        this.limits = Objects.requireNonNull(limits, "limits");
    }

    /**
     * Decodes MessagePack bytes.
     *
     * @throws WireFormatException if they are not one dictionary, or a list of dictionaries, of the expected shape within the limits
     */
    public List<TensorRtEvent> decode(byte[] payload) {
        Object tree = WireDecoder.read(payload, limits, in -> in.at("event").tree());
        List<?> dictionaries = tree instanceof List<?> list ? list : List.of(tree);
        if (dictionaries.size() > limits.events()) {
            throw failure(Problem.LIMIT_EXCEEDED, "events", dictionaries.size() + " elements", "<= " + limits.events());
        }
        List<TensorRtEvent> events = new ArrayList<>();
        for (Object dictionary : dictionaries) {
            events.add(read(map(dictionary, "event")));
        }
        return events;
    }

    /**
     * Reads one dictionary.
     *
     * @throws WireFormatException if it has not the expected shape or is beyond the limits
     */
    public TensorRtEvent read(Map<?, ?> dictionary) {
        return new TensorRtEvent(
                integer(dictionary.get("event_id"), "event_id"),
                data(map(dictionary.get("data"), "data")),
                dictionary.get("window_size") == null ? null : integer(dictionary.get("window_size"), "window_size"),
                dictionary.get("attention_dp_rank") == null
                        ? null
                        : (Integer) (int) unsigned(dictionary.get("attention_dp_rank"), "attention_dp_rank"));
    }

    private TensorRtEvent.Data data(Map<?, ?> data) {
        return switch (text(data.get("type"), "type")) {
            case "created" -> new TensorRtEvent.Created();
            case "stored" -> stored(data);
            case "removed" -> removed(data);
            case "updated" -> new TensorRtEvent.Updated(integer(data.get("block_hash"), "block_hash"));
            default -> new TensorRtEvent.Unknown();
        };
    }

    private TensorRtEvent.Stored stored(Map<?, ?> data) {
        Object parent = data.get("parent_hash");
        List<TensorRtEvent.Block> blocks = new ArrayList<>();
        for (Object block : list(data.get("blocks"), "blocks", limits.hashes())) {
            blocks.add(block(map(block, "blocks")));
        }
        return new TensorRtEvent.Stored(parent == null ? null : (Long) integer(parent, "parent_hash"), blocks);
    }

    private TensorRtEvent.Block block(Map<?, ?> block) {
        List<?> listed = list(block.get("tokens"), "tokens", limits.tokens());
        int[] ids = new int[listed.size()];
        List<Long> extraIds = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            Map<?, ?> token = map(listed.get(i), "tokens");
            ids[i] = (int) unsigned(token.get("token_id"), "token_id");
            Object extra = token.get("token_extra_id");
            extraIds.add(extra == null ? 0 : integer(extra, "token_extra_id"));
        }
        List<String> keys = new ArrayList<>();
        if (block.get("mm_keys") != null) {
            for (Object key : list(block.get("mm_keys"), "mm_keys", limits.objects())) {
                keys.add(text(map(key, "mm_keys").get("hash"), "hash"));
            }
        }
        Object level = block.get("cache_level");
        return new TensorRtEvent.Block(
                integer(block.get("block_hash"), "block_hash"),
                WireTokens.of(ids),
                extraIds,
                level == null ? 0 : (int) Math.min(Integer.MAX_VALUE, unsigned(level, "cache_level")),
                keys);
    }

    private TensorRtEvent.Removed removed(Map<?, ?> data) {
        List<?> listed = list(data.get("block_hashes"), "block_hashes", limits.hashes());
        long[] hashes = new long[listed.size()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = integer(listed.get(i), "block_hashes");
        }
        return new TensorRtEvent.Removed(WireHashes.of(hashes));
    }

    // ---- values

    private static Map<?, ?> map(@Nullable Object value, String field) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw wrongType(value, field, "map");
    }

    private static List<?> list(@Nullable Object value, String field, int limit) {
        if (!(value instanceof List<?> list)) {
            throw wrongType(value, field, "list");
        }
        if (list.size() > limit) {
            throw failure(Problem.LIMIT_EXCEEDED, field, list.size() + " elements", "<= " + limit);
        }
        return list;
    }

    private String text(@Nullable Object value, String field) {
        if (!(value instanceof String text)) {
            throw wrongType(value, field, "text");
        }
        if (text.length() > limits.textBytes()) {
            throw failure(Problem.LIMIT_EXCEEDED, field, text.length() + " characters", "<= " + limits.textBytes());
        }
        return text;
    }

    /** Modulo 2^64, so that signed and unsigned forms of one hash agree. */
    private static long integer(@Nullable Object value, String field) {
        if (value instanceof Long || value instanceof Integer || value instanceof BigInteger) {
            return ((Number) value).longValue();
        }
        throw wrongType(value, field, "integer");
    }

    private static long unsigned(@Nullable Object value, String field) {
        long number = integer(value, field);
        if (number < 0 || number > 0xffff_ffffL) {
            throw failure(Problem.OUT_OF_RANGE, field, "an integer outside", "unsigned 32-bit");
        }
        return number;
    }

    private static WireFormatException wrongType(@Nullable Object value, String field, String expected) {
        return value == null
                ? failure(Problem.MISSING_FIELD, field, "nothing", expected)
                : failure(Problem.WRONG_TYPE, field, value.getClass().getSimpleName(), expected);
    }

    private static WireFormatException failure(Problem problem, String field, String found, String expected) {
        return new WireFormatException(problem, field, 0, found, expected);
    }
}
