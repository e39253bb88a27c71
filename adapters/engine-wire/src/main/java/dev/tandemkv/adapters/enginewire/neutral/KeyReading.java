package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.ExtraKey;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.adapters.enginewire.WireEvent.KeyForm;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the extra keys of one store mean. Engines put everything that goes into a block's hash beside its tokens into one list: the
 * adapter's name, multimodal objects, in the first block of a chain the cache salt, digests; texts among them are not marked. The rule that
 * decides every case: a key that is neither the adapter nor the salt enters its block's hash, because a hash that ignores it would match
 * requests that the engine cannot serve from it.
 *
 * <ul>
 *   <li>The first bare text that equals the adapter's name is the adapter, which the hash scope covers already.
 *   <li>A text with Dynamo's prefix is the salt.
 *   <li>Where identifiers are bare (vLLM 0.17 to 0.19), 64 hexadecimal characters are an identifier.
 *   <li>The last other bare text of a chain's first block is the salt; the engine writes it behind all identifiers.
 * </ul>
 */
final class KeyReading {

    private static final String DYNAMO_SALT = "dynamo-cache-salt:";

    private final BlockStored event;
    private final List<long[]> objects;
    private @Nullable String salt;

    private KeyReading(BlockStored event) {
        this.event = event;
        this.objects = new ArrayList<>(event.blockHashes().size());
    }

    static KeyReading of(BlockStored event) {
        KeyReading reading = new KeyReading(event);
        reading.readAll();
        return reading;
    }

    /** The namespace that the event names: its own field, else the salt among its keys; empty if it names none. */
    String namespace() {
        String own = event.cacheSalt();
        if (own != null && !own.isEmpty()) {
            return own;
        }
        return salt == null ? "" : salt;
    }

    /** Per block the hashes of what enters it beside its tokens. */
    List<long[]> objects() {
        return objects;
    }

    boolean hasObjects() {
        return objects.stream().anyMatch(block -> block.length > 0);
    }

    private void readAll() {
        int blocks = event.blockHashes().size();
        for (int i = 0; i < blocks; i++) {
            LongList found = new LongList();
            List<Long> announced = entry(event.multimodalHashes(), i);
            announced.forEach(found::add);
            readBlock(i, entry(event.extraKeys(), i), event.multimodalHashes() != null, found);
            objects.add(found.toArray());
        }
    }

    private static <T> List<T> entry(@Nullable List<List<T>> perBlock, int block) {
        return perBlock == null || block >= perBlock.size() ? List.of() : perBlock.get(block);
    }

    private void readBlock(int block, List<ExtraKey> keys, boolean objectsAnnounced, LongList found) {
        boolean adapterSeen = false;
        String candidate = null;
        for (ExtraKey key : keys) {
            if (key instanceof ExtraKey.Text bare) {
                String text = bare.text();
                if (!adapterSeen && isAdapter(text)) {
                    adapterSeen = true;
                } else if (text.startsWith(DYNAMO_SALT)) {
                    takeSalt(text.substring(DYNAMO_SALT.length()), found);
                } else if (block == 0 && event.parent() == null && !isBareIdentifier(text)) {
                    addIdentifier(candidate, found);
                    candidate = text;
                } else {
                    addIdentifier(text, found);
                }
            } else if (key instanceof ExtraKey.Identifier object) {
                if (!objectsAnnounced) {
                    addIdentifier(object.identifier(), found);
                }
            } else {
                found.add(MultimodalObjects.contentHash(content(key)));
            }
        }
        if (candidate != null) {
            takeSalt(candidate, found);
        }
    }

    private boolean isAdapter(String text) {
        return !text.isEmpty() && text.equals(event.loraName());
    }

    private boolean isBareIdentifier(String text) {
        return event.keyForm() == KeyForm.BARE
                && text.length() == 64
                && text.chars().allMatch(KeyReading::isHexDigit);
    }

    private static boolean isHexDigit(int c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }

    /** A second salt, or one that differs from the event's own field, is no namespace; so it enters the hash. */
    private void takeSalt(String text, LongList found) {
        String own = event.cacheSalt();
        String known = own != null && !own.isEmpty() ? own : salt;
        if (known == null) {
            salt = text;
        } else if (!known.equals(text)) {
            addIdentifier(text, found);
        }
    }

    private static void addIdentifier(@Nullable String identifier, LongList found) {
        if (identifier != null) {
            MultimodalObjects.identifierHash(identifier).ifPresent(found::add);
        }
    }

    private static byte[] content(ExtraKey key) {
        return key instanceof ExtraKey.Bytes digest
                ? digest.bytes()
                : ((ExtraKey.Scalar) key).text().getBytes(StandardCharsets.UTF_8);
    }

    /** A few longs. */
    private static final class LongList {
        private static final long[] NONE = {};
        private long[] values = NONE;

        void add(long value) {
            values = Arrays.copyOf(values, values.length + 1);
            values[values.length - 1] = value;
        }

        long[] toArray() {
            return values;
        }
    }
}
