package dev.tandemkv.adapters.enginewire.neutral;

import static dev.tandemkv.adapters.enginewire.Pack.list;
import static dev.tandemkv.adapters.enginewire.Pack.map;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tandemkv.adapters.enginewire.Pack;
import dev.tandemkv.adapters.enginewire.TensorRtDecoder;
import dev.tandemkv.adapters.enginewire.TensorRtEvent;
import dev.tandemkv.adapters.enginewire.WireFormatException;
import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** TensorRT-LLM dictionaries (8.5 of the wire formats); blocks of two tokens. */
class TensorRtTest {

    private static final BlockHasher HASHER = BlockHasher.ofBlockSize(2);

    private final TensorRtDecoder decoder = new TensorRtDecoder(WireLimits.defaults());
    private final TensorRtNormalizer normalizer =
            new TensorRtNormalizer(NormalizerConfig.of(WorkerRank.of(7), HASHER, EngineFamily.TENSORRT_LLM));

    @Test
    void dictionary_asMapOrBytesOrListOfThem_isTheSameEvent() {
        Map<String, @Nullable Object> dictionary = event(4, 512, stored(null, block(11, 0, 1, 2)));

        TensorRtEvent read = decoder.read(dictionary);
        assertThat(decoder.decode(Pack.bytes(dictionary))).containsExactly(read);
        assertThat(decoder.decode(Pack.bytes(list(dictionary, dictionary)))).containsExactly(read, read);
        assertThat(read.eventId()).isEqualTo(4);
        assertThat(read.windowSize()).isEqualTo(512);
    }

    @Test
    void stored_fullBlocks_areHashedAsAChain() {
        assertThat(events(event(0, null, stored(9L, block(11, 0, 1, 2), block(12, 0, 3, 4)))))
                .containsExactly(KvEvent.Stored.device(9L, new long[] {11, 12}, locals(1, 2, 3, 4)));
    }

    @Test
    void stored_hashAsUnsignedNumber_isItsSignedForm() {
        Map<String, @Nullable Object> block = block(0, 0, 1, 2);
        block.put("block_hash", BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE));

        assertThat(((KvEvent.Stored) events(event(0, null, stored(null, block))).get(0)).externalHashes())
                .containsExactly(-1);
    }

    @Test
    void stored_partialBlock_endsTheStoreAndItsRemovalIsSwallowed() {
        assertThat(events(event(0, null, stored(null, block(11, 0, 1, 2), block(12, 0, 3)))))
                .containsExactly(KvEvent.Stored.device(null, new long[] {11}, locals(1, 2)));
        assertThat(events(event(1, null, removed(12L)))).isEmpty();
        assertThat(events(event(2, null, removed(11L, 12L)))).containsExactly(KvEvent.Removed.device(11, 12));
    }

    @Test
    void stored_blockLongerThanTheBlockSize_dropsTheEvent() {
        assertThat(events(event(0, null, stored(null, block(11, 0, 1, 2), block(12, 0, 3, 4, 5)))))
                .isEmpty();
        assertThat(normalizer.stats().dropped(DropReason.CONFLICTING_BLOCK_SIZE))
                .isEqualTo(1);
    }

    @Test
    void windows_otherThanTheWidestCreated_areDropped() {
        events(event(0, 128, map("type", "created", "num_blocks_per_cache_level", list(10, 0))));
        events(event(1, 512, map("type", "created", "num_blocks_per_cache_level", list(10, 0))));

        assertThat(events(event(2, 128, stored(null, block(11, 0, 1, 2))))).isEmpty();
        assertThat(events(event(3, 512, stored(null, block(11, 0, 1, 2))))).hasSize(1);
        assertThat(events(event(4, 128, removed(11L)))).isEmpty();
        assertThat(events(event(5, null, removed(11L)))).hasSize(1);
        assertThat(normalizer.stats().dropped(DropReason.OTHER_WINDOW)).isEqualTo(2);
    }

    @Test
    void levels_areTiersAndARemovalFindsTheBlocksTier() {
        assertThat(events(event(0, null, stored(null, block(11, 0, 1, 2), block(12, 1, 3, 4)))))
                .containsExactly(
                        KvEvent.Stored.device(null, new long[] {11}, locals(1, 2)),
                        KvEvent.Stored.in(Tier.HOST_PINNED, 11L, new long[] {12}, new long[] {locals(1, 2, 3, 4)[1]}));
        assertThat(events(event(1, null, removed(11L, 12L))))
                .containsExactly(KvEvent.Removed.device(11), KvEvent.Removed.in(Tier.HOST_PINNED, 12));
    }

    @Test
    void multimodalKeys_enterTheHashByTheirFirstSixteenDigits() {
        Map<String, @Nullable Object> block = block(11, 0, 1, 2);
        block.put(
                "mm_keys", list(map("type", "mm_key", "hash", "00000000000000ff" + "a".repeat(48), "start_offset", 0)));
        long[] expected = new long[1];
        HASHER.locals(
                new int[] {1, 2}, 2, HashScope.BASE, MultimodalObjects.perBlock(List.of(new long[] {255})), expected);

        assertThat(((KvEvent.Stored) events(event(0, null, stored(null, block))).get(0)).localHashes())
                .containsExactly(expected);
    }

    @Test
    void tokenExtraIds_areNotIgnored() {
        Map<String, @Nullable Object> block = block(11, 0, 1, 2);
        block.put("tokens", list(map("token_id", 1, "token_extra_id", 5), map("token_id", 2, "token_extra_id", 0)));

        assertThat(((KvEvent.Stored) events(event(0, null, stored(null, block))).get(0)).localHashes())
                .doesNotContain(locals(1, 2));
    }

    @Test
    void updatedAndUnknown_areEmptyBatchesThatStillCount() {
        assertThat(events(event(0, null, map("type", "updated", "block_hash", 11))))
                .isEmpty();
        assertThat(events(event(1, null, map("type", "of-tomorrow")))).isEmpty();
        assertThat(normalizer.stats().batches()).isEqualTo(2);
        assertThat(normalizer.stats().dropped(DropReason.IGNORED_EVENT)).isEqualTo(1);
        assertThat(normalizer.stats().dropped(DropReason.UNKNOWN_TAG)).isEqualTo(1);
    }

    @Test
    void rank_isTheOneNamedElseTheListeners() {
        Map<String, @Nullable Object> named = event(0, null, removed(1L));
        named.put("attention_dp_rank", 3);

        assertThat(normalizer.normalize(decoder.read(named)).rank()).isEqualTo(new WorkerRank(7, 3));
        assertThat(normalizer
                        .normalize(decoder.read(event(1, null, removed(1L))))
                        .rank())
                .isEqualTo(WorkerRank.of(7));
    }

    @Test
    void repeatedHash_dropsTheEvent() {
        assertThat(events(event(0, null, stored(11L, block(11, 0, 1, 2))))).isEmpty();
        assertThat(events(event(1, null, stored(null, block(11, 0, 1, 2), block(11, 0, 1, 2)))))
                .isEmpty();
    }

    @Test
    void malformedDictionaries_areRefusedByField() {
        assertProblem(map("data", map("type", "removed")), Problem.MISSING_FIELD, "event_id");
        assertProblem(map("event_id", 1), Problem.MISSING_FIELD, "data");
        assertProblem(map("event_id", "1", "data", map()), Problem.WRONG_TYPE, "event_id");
        assertProblem(event(0, null, map("type", 5)), Problem.WRONG_TYPE, "type");
        assertProblem(event(0, null, map("type", "stored", "blocks", 5)), Problem.WRONG_TYPE, "blocks");
        assertProblem(event(0, null, stored(null, map("block_hash", 1))), Problem.MISSING_FIELD, "tokens");
        assertProblem(
                event(0, null, stored(null, map("block_hash", 1, "tokens", list(map("token_id", -1))))),
                Problem.OUT_OF_RANGE,
                "token_id");
        assertProblem(
                event(0, null, map("type", "removed", "block_hashes", list("x"))), Problem.WRONG_TYPE, "block_hashes");
    }

    @Test
    void deepBytes_areRefused() {
        Object deep = list();
        for (int i = 0; i < 100; i++) {
            deep = list(deep);
        }
        byte[] payload = Pack.bytes(deep);

        assertThatThrownBy(() -> decoder.decode(payload))
                .isInstanceOfSatisfying(
                        WireFormatException.class, e -> assertThat(e.problem()).isEqualTo(Problem.LIMIT_EXCEEDED));
    }

    private void assertProblem(Map<String, @Nullable Object> dictionary, Problem problem, String field) {
        WireFormatException e = catchThrowableOfType(WireFormatException.class, () -> decoder.read(dictionary));
        assertThat(e).as("refused").isNotNull();
        assertThat(e.problem()).as(e.getMessage()).isEqualTo(problem);
        assertThat(e.field()).isEqualTo(field);
    }

    private List<KvEvent> events(Map<String, @Nullable Object> dictionary) {
        return normalizer.normalize(decoder.read(dictionary)).events();
    }

    private static Map<String, @Nullable Object> event(
            long id, @Nullable Integer window, Map<String, @Nullable Object> data) {
        return map("event_id", id, "data", data, "window_size", window);
    }

    @SafeVarargs
    private static Map<String, @Nullable Object> stored(
            @Nullable Long parent, Map<String, @Nullable Object>... blocks) {
        return map("type", "stored", "parent_hash", parent, "blocks", list((Object[]) blocks));
    }

    private static Map<String, @Nullable Object> removed(Long... hashes) {
        return map("type", "removed", "block_hashes", list((Object[]) hashes));
    }

    private static Map<String, @Nullable Object> block(long hash, int level, int... tokens) {
        List<Object> listed = new ArrayList<>();
        for (int token : tokens) {
            listed.add(map("type", "unique_token", "token_id", token, "token_extra_id", 0));
        }
        return map("type", "stored_block", "block_hash", hash, "tokens", listed, "cache_level", level, "priority", 35);
    }

    private static long[] locals(int... tokens) {
        long[] locals = new long[HASHER.blocks(tokens.length)];
        HASHER.locals(tokens, tokens.length, HashScope.BASE, MultimodalObjects.NONE, locals);
        return locals;
    }
}
