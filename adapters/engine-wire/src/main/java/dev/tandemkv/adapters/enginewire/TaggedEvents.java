package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/** Events as maps with the key {@code type}. The order of the keys does not matter, unknown keys are skipped, defaults are left out. */
final class TaggedEvents {

    private final WireReader in;
    private final FieldReader fields;

    TaggedEvents(WireReader in, FieldReader fields) {
        this.in = in;
        this.fields = fields;
    }

    /** One event, or {@code null} if its tag is unknown. */
    @Nullable
    WireEvent read() throws IOException {
        int start = in.at("event").offset();
        int pairs = in.mapHeader();
        int firstPair = in.offset();
        String tag = tag(pairs);
        return switch (tag) {
            case EventTags.STORED -> {
                in.seek(firstPair);
                yield stored(pairs);
            }
            case EventTags.REMOVED -> {
                in.seek(firstPair);
                yield removed(pairs);
            }
            default -> {
                in.seek(start);
                in.at("event").skip();
                yield EventTags.withoutFields(tag);
            }
        };
    }

    /** The tag decides how the other fields are read, so it is looked for first; engines write it first. */
    private String tag(int pairs) throws IOException {
        for (int i = 0; i < pairs; i++) {
            if (fields.key().equals("type")) {
                return in.at("type").text();
            }
            in.skip();
        }
        throw in.at("type").fail(Problem.MISSING_FIELD, pairs + " keys without it", "present");
    }

    private WireEvent stored(int pairs) throws IOException {
        StoredFields found = new StoredFields();
        for (int i = 0; i < pairs; i++) {
            found.take(fields.key());
        }
        return found.build();
    }

    /** What has been read of one store. */
    private final class StoredFields {
        private @Nullable WireHashes hashes;
        private @Nullable WireHashes parent;
        private @Nullable WireTokens tokens;
        private @Nullable Long blockSize;
        private @Nullable Long loraId;
        private @Nullable String loraName;
        private @Nullable String topLevelSalt;
        private @Nullable String metadataSalt;
        private FieldReader.BlockKeys keys = new FieldReader.BlockKeys(null, null);
        private @Nullable List<List<Long>> multimodal;
        private @Nullable String sessionId;
        private @Nullable String kind;
        private @Nullable Long window;
        private @Nullable List<List<Integer>> lookahead;
        private @Nullable String medium;
        private @Nullable Integer group;
        private @Nullable String locality;
        private @Nullable String ownership;

        void take(String key) throws IOException {
            switch (key) {
                case "block_hashes" -> hashes = fields.hashes();
                case "parent_block_hash" -> parent = fields.parent();
                case "token_ids" -> tokens = fields.tokens();
                case "block_size" -> blockSize = fields.blockSize();
                case "lora_id" -> loraId = fields.loraId();
                case "lora_name" -> loraName = fields.textOrNil(key);
                case "cache_salt" -> topLevelSalt = fields.textOrNil(key);
                case "metadata" -> takeMetadata();
                case "extra_keys" -> keys = fields.blockKeys();
                case "block_mm_infos" -> multimodal = fields.multimodalInfosOrSkip();
                case "session_id" -> sessionId = fields.textOrNil(key);
                case "kv_cache_spec_kind" -> kind = fields.textOrNil(key);
                case "kv_cache_spec_sliding_window" -> window = fields.unsignedOrNil(key);
                case "lookahead_token_ids" -> lookahead = fields.lookahead();
                case "medium" -> medium = fields.textOrNil(key);
                case "group_idx" -> group = fields.smallOrNil(key);
                case "locality" -> locality = fields.textOrNil(key);
                case "ownership" -> ownership = fields.textOrNil(key);
                default -> in.skip();
            }
        }

        private void takeMetadata() throws IOException {
            if (in.type() == ValueType.MAP) {
                metadataSalt = fields.saltOfMetadata();
            } else {
                in.skip();
            }
        }

        WireEvent build() {
            return BlockStored.builder(
                            required(hashes, "block_hashes"),
                            required(tokens, "token_ids"),
                            required(blockSize, "block_size"))
                    .parent(parent)
                    .loraId(loraId)
                    .loraName(loraName)
                    .cacheSalt(topLevelSalt != null && !topLevelSalt.isEmpty() ? topLevelSalt : firstNonNull())
                    .extraKeys(keys.extraKeys())
                    .multimodalHashes(multimodal != null ? multimodal : keys.multimodalHashes())
                    .sessionId(sessionId)
                    .specKind(kind)
                    .slidingWindow(window)
                    .lookaheadTokens(lookahead)
                    .medium(medium)
                    .groupIdx(group)
                    .locality(locality)
                    .ownership(ownership)
                    .build();
        }

        /** An empty salt is as good as none, but is kept as it came. */
        private @Nullable String firstNonNull() {
            return metadataSalt != null ? metadataSalt : topLevelSalt;
        }
    }

    private WireEvent removed(int pairs) throws IOException {
        WireHashes hashes = null;
        String medium = null;
        Integer group = null;
        String locality = null;
        String ownership = null;
        for (int i = 0; i < pairs; i++) {
            String key = fields.key();
            switch (key) {
                case "block_hashes" -> hashes = fields.hashes();
                case "medium" -> medium = fields.textOrNil(key);
                case "group_idx" -> group = fields.smallOrNil(key);
                case "locality" -> locality = fields.textOrNil(key);
                case "ownership" -> ownership = fields.textOrNil(key);
                default -> in.skip();
            }
        }
        return new WireEvent.BlockRemoved(required(hashes, "block_hashes"), medium, group, locality, ownership);
    }

    private <T> T required(@Nullable T value, String field) {
        if (value == null) {
            throw in.at(field).fail(Problem.MISSING_FIELD, "an event without it", "present");
        }
        return value;
    }
}
