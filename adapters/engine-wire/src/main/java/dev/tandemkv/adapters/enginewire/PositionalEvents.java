package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.adapters.enginewire.WireEvent.KeyForm;
import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * Events as arrays: tag first, then the fields in the order in which releases added them. A release sends a fixed number of elements; a
 * shorter array lacks the newer fields, what stands behind the known ones is skipped.
 */
final class PositionalEvents {

    /** Stores of this many elements (vLLM 0.17 to 0.19) name multimodal objects by bare texts. */
    private static final int ELEMENTS_WITH_BARE_IDENTIFIERS = 9;

    private final WireReader in;
    private final FieldReader fields;

    PositionalEvents(WireReader in, FieldReader fields) {
        this.in = in;
        this.fields = fields;
    }

    /** One event, or {@code null} if its tag is unknown. */
    @Nullable
    WireEvent read() throws IOException {
        int elements = in.at("event").arrayHeader(Integer.MAX_VALUE);
        if (elements == 0) {
            throw in.fail(Problem.MISSING_FIELD, "an empty array", "an event's tag");
        }
        String tag = in.at("type").text();
        return switch (tag) {
            case EventTags.STORED -> stored(elements);
            case EventTags.REMOVED -> removed(elements);
            default -> {
                in.at("event").skip(elements - 1);
                yield EventTags.withoutFields(tag);
            }
        };
    }

    private WireEvent stored(int elements) throws IOException {
        if (elements < 5) {
            throw in.fail(Problem.MISSING_FIELD, elements + " elements", ">= 5");
        }
        WireHashes hashes = fields.hashes();
        WireHashes parent = fields.parent();
        WireTokens tokens = fields.tokens();
        BlockStored.Builder event =
                BlockStored.builder(hashes, tokens, fields.blockSize()).parent(parent);
        if (elements > 5) {
            event.loraId(fields.loraId());
        }
        if (elements > 6) {
            event.medium(fields.textOrNil("medium"));
        }
        if (elements > 7) {
            adapterOrMetadata(event);
        }
        if (elements == ELEMENTS_WITH_BARE_IDENTIFIERS) {
            event.keyForm(KeyForm.BARE);
        }
        int read = Math.min(elements, 8);
        FieldReader.BlockKeys keys = new FieldReader.BlockKeys(null, null);
        if (elements > 8 && isArrayOrNil()) {
            keys = fields.blockKeys();
            read = 9;
        }
        Tail tail = tail(elements - read);
        return event.extraKeys(keys.extraKeys())
                .multimodalHashes(tail.multimodal() != null ? tail.multimodal() : keys.multimodalHashes())
                .groupIdx(tail.group())
                .specKind(tail.kind())
                .slidingWindow(tail.window())
                .build();
    }

    private boolean isArrayOrNil() throws IOException {
        ValueType type = in.at("extra_keys").type();
        return type == ValueType.ARRAY || type == ValueType.NIL;
    }

    /** vLLM puts the adapter's name here, SGLang 0.5.18 a map with the salt. */
    private void adapterOrMetadata(BlockStored.Builder event) throws IOException {
        if (in.at("lora_name").type() == ValueType.MAP) {
            event.cacheSalt(fields.saltOfMetadata());
        } else {
            event.loraName(fields.textOrNil("lora_name"));
        }
    }

    private record Tail(
            @Nullable Integer group,
            @Nullable String kind,
            @Nullable Long window,
            @Nullable List<List<Long>> multimodal) {}

    /**
     * Group, kind and window by position; but publishers exist that leave slots out, so from the first element on that does not fit, all
     * are taken by their type: the first unsigned number is the group, the second the window, a text the kind, an array the multimodal
     * objects.
     */
    private Tail tail(int elements) throws IOException {
        Integer group = null;
        String kind = null;
        Long window = null;
        List<List<Long>> multimodal = null;
        boolean byPosition = true;
        for (int i = 0; i < elements; i++) {
            ValueType type = in.at("tail").type();
            boolean unsigned = type == ValueType.INTEGER && in.nextIsUnsigned();
            byPosition &= type == ValueType.NIL || fits(i, type, unsigned);
            boolean isWindow = byPosition ? i == 2 : group != null;
            if (unsigned && isWindow && window == null) {
                window = fields.unsignedOrNil("kv_cache_spec_sliding_window");
            } else if (unsigned && !isWindow && group == null) {
                group = fields.smallOrNil("group_idx");
            } else if (type == ValueType.STRING && kind == null) {
                kind = fields.textOrNil("kv_cache_spec_kind");
            } else if (type == ValueType.ARRAY && multimodal == null) {
                multimodal = fields.multimodalInfosOrSkip();
            } else {
                in.skip();
            }
        }
        return new Tail(group, kind, window, multimodal);
    }

    private static boolean fits(int slot, ValueType type, boolean unsigned) {
        return slot == 1 ? type == ValueType.STRING : slot > 2 || unsigned;
    }

    private WireEvent removed(int elements) throws IOException {
        if (elements < 2) {
            throw in.fail(Problem.MISSING_FIELD, elements + " element", ">= 2");
        }
        WireHashes hashes = fields.hashes();
        String medium = elements > 2 ? fields.textOrNil("medium") : null;
        Integer group = elements > 3 ? fields.smallOrNil("group_idx") : null;
        in.skip(Math.max(0, elements - 4));
        return new WireEvent.BlockRemoved(hashes, medium, group, null, null);
    }
}
