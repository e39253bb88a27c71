package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/** Reads the value of one field, the same for positional events and tagged maps. A nil is {@code null} where a field may be absent. */
final class FieldReader {

    private final WireReader in;
    private final WireLimits limits;

    FieldReader(WireReader in) {
        this.in = in;
        this.limits = in.limits();
    }

    @Nullable
    String textOrNil(String field) throws IOException {
        return in.at(field).takeNil() ? null : in.text();
    }

    @Nullable
    Long unsignedOrNil(String field) throws IOException {
        return in.at(field).takeNil() ? null : (Long) in.unsigned(Long.MAX_VALUE);
    }

    @Nullable
    Integer smallOrNil(String field) throws IOException {
        return in.at(field).takeNil() ? null : (Integer) (int) in.unsigned(Integer.MAX_VALUE);
    }

    /** The deprecated adapter number: nobody reads it, so another type is no reason to refuse the event. */
    @Nullable
    Long loraId() throws IOException {
        if (in.at("lora_id").type() == ValueType.INTEGER) {
            return in.integerBits();
        }
        in.skip();
        return null;
    }

    WireHashes hashes() throws IOException {
        int count = in.at("block_hashes").arrayHeader(limits.hashes());
        long[] values = new long[count];
        byte[] @Nullable [] digests = null;
        for (int i = 0; i < count; i++) {
            if (in.type() == ValueType.BINARY) {
                if (digests == null) {
                    digests = new byte[count][];
                }
                digests[i] = digest();
                values[i] = WireHashes.lastEightBytes(digests[i]);
            } else {
                values[i] = hashInteger();
            }
        }
        return WireHashes.adopt(values, digests);
    }

    @Nullable
    WireHashes parent() throws IOException {
        if (in.at("parent_block_hash").takeNil()) {
            return null;
        }
        return in.type() == ValueType.BINARY ? WireHashes.ofBytes(digest()) : WireHashes.of(hashInteger());
    }

    private long hashInteger() throws IOException {
        if (in.type() != ValueType.INTEGER) {
            throw in.wrongType("integer or bytes");
        }
        return in.integerBits();
    }

    private byte[] digest() throws IOException {
        byte[] digest = in.binary(limits.hashBytes());
        if (digest.length == 0) {
            throw in.fail(Problem.OUT_OF_RANGE, "0 bytes", ">= 1 byte");
        }
        return digest;
    }

    WireTokens tokens() throws IOException {
        int count = in.at("token_ids").arrayHeader(limits.tokens());
        boolean pairs = count > 0 && in.type() == ValueType.ARRAY;
        if (!pairs) {
            int[] ids = new int[count];
            for (int i = 0; i < count; i++) {
                ids[i] = token();
            }
            return WireTokens.adopt(ids, false);
        }
        // A pair takes three bytes at least, so this stays in proportion to the payload.
        if (3L * count > in.remaining()) {
            throw in.fail(Problem.TRUNCATED, count + " pairs in " + in.remaining() + " bytes", "all pairs present");
        }
        int[] ids = new int[2 * count];
        for (int i = 0; i < count; i++) {
            int width = in.arrayHeader(2);
            if (width != 2) {
                throw in.fail(Problem.WRONG_TYPE, width + " tokens in a pair", "2");
            }
            ids[2 * i] = token();
            ids[2 * i + 1] = token();
        }
        return WireTokens.adopt(ids, true);
    }

    private int token() throws IOException {
        return (int) in.unsigned(0xffff_ffffL);
    }

    long blockSize() throws IOException {
        return in.at("block_size").unsigned(0xffff_ffffL);
    }

    @Nullable
    List<List<Integer>> lookahead() throws IOException {
        if (in.at("lookahead_token_ids").takeNil()) {
            return null;
        }
        int blocks = in.objectsHeader(limits.hashes());
        List<List<Integer>> lists = new ArrayList<>(blocks);
        for (int i = 0; i < blocks; i++) {
            int count = in.takeNil() ? 0 : in.objectsHeader(limits.tokens());
            if (count == 0) {
                lists.add(List.of());
                continue;
            }
            Integer[] ids = new Integer[count];
            for (int k = 0; k < count; k++) {
                ids[k] = token();
            }
            lists.add(List.of(ids));
        }
        return lists;
    }

    /** A key that is no text is unknown, like any other name that is not ours. */
    String key() throws IOException {
        if (in.at("key").type() == ValueType.STRING) {
            return in.text();
        }
        in.skip();
        return "";
    }

    /** The metadata map of SGLang 0.5.18 and 0.5.19: only its salt matters. */
    @Nullable
    String saltOfMetadata() throws IOException {
        String salt = null;
        int pairs = in.at("metadata").mapHeader();
        for (int i = 0; i < pairs; i++) {
            if (key().equals("cache_salt")) {
                salt = textOrNil("cache_salt");
            } else {
                in.skip();
            }
        }
        return salt;
    }

    /** What one event says about its blocks beside their tokens. */
    record BlockKeys(
            @Nullable List<List<ExtraKey>> extraKeys,
            @Nullable List<List<Long>> multimodalHashes) {}

    /** The value of {@code extra_keys}; the multimodal objects of a publisher that left that slot out are told by their shape. */
    BlockKeys blockKeys() throws IOException {
        if (in.at("extra_keys").takeNil()) {
            return new BlockKeys(null, null);
        }
        if (nextIsMultimodalInfos()) {
            return new BlockKeys(null, multimodalInfos());
        }
        int blocks = in.objectsHeader(limits.hashes());
        List<List<ExtraKey>> keys = new ArrayList<>(blocks);
        for (int i = 0; i < blocks; i++) {
            keys.add(in.takeNil() ? List.of() : keysOfBlock());
        }
        return new BlockKeys(keys, null);
    }

    /** Whether an array comes next whose first entry that is not nil is a map; consumes nothing. */
    private boolean nextIsMultimodalInfos() throws IOException {
        int start = in.offset();
        int blocks = in.arrayHeader(limits.hashes());
        boolean found = false;
        for (int i = 0; i < blocks; i++) {
            if (!in.takeNil()) {
                found = in.type() == ValueType.MAP;
                break;
            }
        }
        in.seek(start);
        return found;
    }

    /** The value of {@code block_mm_infos}; an array of another shape, or anything else, is not ours and skipped. */
    @Nullable
    List<List<Long>> multimodalInfosOrSkip() throws IOException {
        if (in.at("block_mm_infos").type() == ValueType.ARRAY && nextIsMultimodalInfos()) {
            return multimodalInfos();
        }
        in.skip();
        return null;
    }

    private List<List<Long>> multimodalInfos() throws IOException {
        int blocks = in.at("block_mm_infos").objectsHeader(limits.hashes());
        List<List<Long>> hashes = new ArrayList<>(blocks);
        for (int i = 0; i < blocks; i++) {
            hashes.add(in.takeNil() ? List.of() : multimodalObjects());
        }
        return hashes;
    }

    private List<ExtraKey> keysOfBlock() throws IOException {
        int count = in.objectsHeader(Integer.MAX_VALUE);
        if (count == 0) {
            return List.of();
        }
        ExtraKey[] keys = new ExtraKey[count];
        for (int i = 0; i < count; i++) {
            keys[i] = extraKey();
        }
        return List.of(keys);
    }

    private ExtraKey extraKey() throws IOException {
        return switch (in.type()) {
            case STRING -> new ExtraKey.Text(in.text());
            case BINARY -> new ExtraKey.Bytes(in.binary(limits.textBytes()));
            case INTEGER -> new ExtraKey.Scalar(in.integerText());
            case FLOAT -> new ExtraKey.Scalar(Double.toString(in.number()));
            case BOOLEAN -> new ExtraKey.Scalar(Boolean.toString(in.truth()));
            case ARRAY -> identifierOrOpaque();
            default -> new ExtraKey.Bytes(in.raw(limits.textBytes()));
        };
    }

    /** {@code [text, integer]} is a multimodal object; another array is kept as its bytes, because a key that is ignored over-counts. */
    private ExtraKey identifierOrOpaque() throws IOException {
        int start = in.offset();
        int length = in.arrayHeader(Integer.MAX_VALUE);
        if (length >= 2 && in.type() == ValueType.STRING) {
            String identifier = in.text();
            if (in.type() == ValueType.INTEGER) {
                long offset = in.integerBits();
                in.skip(length - 2);
                return new ExtraKey.Identifier(identifier, offset);
            }
        }
        in.seek(start);
        return new ExtraKey.Bytes(in.raw(limits.textBytes()));
    }

    /** {@code {mm_objects: [{mm_hash, offsets}]}}: the hashes; offsets are not hashed. */
    private List<Long> multimodalObjects() throws IOException {
        List<Long> hashes = new ArrayList<>();
        int pairs = in.mapHeader();
        for (int i = 0; i < pairs; i++) {
            if (key().equals("mm_objects")) {
                int objects = in.takeNil() ? 0 : in.objectsHeader(Integer.MAX_VALUE);
                for (int k = 0; k < objects; k++) {
                    hashes.add(multimodalHash());
                }
            } else {
                in.skip();
            }
        }
        return List.copyOf(hashes);
    }

    private long multimodalHash() throws IOException {
        if (in.type() == ValueType.ARRAY) {
            int length = in.arrayHeader(Integer.MAX_VALUE);
            if (length == 0) {
                throw in.fail(Problem.MISSING_FIELD, "an empty object", "mm_hash");
            }
            long hash = in.integerBits();
            in.skip(length - 1);
            return hash;
        }
        Long hash = null;
        int pairs = in.mapHeader();
        for (int i = 0; i < pairs; i++) {
            if (key().equals("mm_hash")) {
                hash = in.integerBits();
            } else {
                in.skip();
            }
        }
        if (hash == null) {
            throw in.fail(Problem.MISSING_FIELD, "an object without it", "mm_hash");
        }
        return hash;
    }
}
