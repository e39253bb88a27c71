package dev.tandemkv.adapters.enginewire;

import static dev.tandemkv.adapters.enginewire.Pack.list;
import static dev.tandemkv.adapters.enginewire.Pack.map;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.WireEvent.BlockRemoved;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WireDecoderTest {

    private static final BigInteger TOP = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());

    @Test
    void decode_documentedByteExamples_readAsDescribed() {
        WireBatch stored = hex("93cb00000000000000009198ab426c6f636b53746f726564910bc0920a0b02c0c0c000");
        WireBatch removed = hex("93cb00000000000000009193ac426c6f636b52656d6f766564910ba347505500");
        WireBatch cleared = hex("92cb00000000000000009191b0416c6c426c6f636b73436c6561726564");
        WireBatch mapped =
                hex("93cb00000000000000009185a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391ff"
                        + "b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f696473920a0baa626c6f636b5f73697a650200");

        assertThat(stored.events())
                .containsExactly(BlockStored.builder(WireHashes.of(11), WireTokens.of(10, 11), 2)
                        .build());
        assertThat(stored.rank()).isZero();
        assertThat(removed.events()).containsExactly(new BlockRemoved(WireHashes.of(11), "GPU", null, null, null));
        assertThat(cleared.events()).containsExactly(new WireEvent.AllBlocksCleared());
        assertThat(cleared.rank()).isNull();
        assertThat(mapped.events())
                .containsExactly(BlockStored.builder(WireHashes.of(-1), WireTokens.of(10, 11), 2)
                        .build());
    }

    @Test
    void s36_sameBatchInBothEncodings_givesEqualEvents() {
        WireBatch positional = decoder.decode(Pack.batch(
                list(
                        "BlockStored",
                        list(7, 8),
                        6,
                        list(1, 2, 3, 4),
                        2,
                        null,
                        "CPU",
                        "adapter-a",
                        keys(),
                        0,
                        "full_attention",
                        128),
                list("BlockRemoved", list(7), "GPU", 3),
                list("AllBlocksCleared")));
        WireBatch mapped = decoder.decode(Pack.batch(
                storedMap(),
                map("type", "BlockRemoved", "block_hashes", list(7), "medium", "GPU", "group_idx", 3),
                map("type", "AllBlocksCleared")));

        assertThat(positional.events()).isEqualTo(mapped.events());
    }

    @Test
    void s36_mixedBatch_readsEachEventInItsOwnEncoding() {
        WireBatch batch = decoder.decode(Pack.batch(
                list("BlockRemoved", list(1)), map("type", "BlockRemoved", "block_hashes", list(2)), storedMap()));

        assertThat(batch.events()).hasSize(3);
        assertThat(((BlockRemoved) batch.events().get(1)).blockHashes()).isEqualTo(WireHashes.of(2));
    }

    @Test
    void s36_unknownKeysAndExtraElements_areSkipped() {
        Map<String, Object> odd = new LinkedHashMap<>();
        odd.put("source_kind", list(map("a", list(1, 2)), "x"));
        odd.putAll(storedMap());
        odd.put("future", map("deep", list(list(1.5), true)));
        WireBatch batch = decoder.decode(Pack.bytes(list(
                0.0,
                list(
                        odd,
                        list(
                                "BlockStored",
                                list(7, 8),
                                6,
                                list(1, 2, 3, 4),
                                2,
                                null,
                                "CPU",
                                "adapter-a",
                                keys(),
                                0,
                                "full_attention",
                                128,
                                "extra",
                                map("k", 1)),
                        list("AllBlocksCleared", 5)),
                null,
                "extra")));
        WireBatch plain = decoder.decode(Pack.batch(storedMap()));

        assertThat(batch.events().get(0)).isEqualTo(plain.events().get(0));
        assertThat(batch.events().get(1)).isEqualTo(plain.events().get(0));
        assertThat(batch.events().get(2)).isEqualTo(new WireEvent.AllBlocksCleared());
    }

    @Test
    void s36_keysInAnyOrder_giveTheSameEvent() {
        WireEvent forward = decoder.decode(Pack.batch(storedMap())).events().get(0);
        List<Map.Entry<String, Object>> entries = new ArrayList<>(storedMap().entrySet());
        Collections.reverse(entries);
        Map<String, Object> backward = new LinkedHashMap<>();
        entries.forEach(entry -> backward.put(entry.getKey(), entry.getValue()));

        assertThat(decoder.decode(Pack.batch(backward)).events()).containsExactly(forward);
    }

    @Test
    void s36_shorterStore_lacksTheNewerFields() {
        for (int elements = 5; elements <= 12; elements++) {
            List<Object> whole = list(
                    "BlockStored",
                    list(7),
                    null,
                    list(1, 2),
                    2,
                    4,
                    "CPU",
                    "adapter-a",
                    list(list("k")),
                    3,
                    "mamba",
                    128);
            BlockStored event = stored(Pack.batch(whole.subList(0, elements)));

            assertThat(event.medium()).isEqualTo(elements > 6 ? "CPU" : null);
            assertThat(event.loraName()).isEqualTo(elements > 7 ? "adapter-a" : null);
            assertThat(event.keyForm()).isEqualTo(elements == 9 ? WireEvent.KeyForm.BARE : WireEvent.KeyForm.PAIRS);
            assertThat(event.groupIdx()).isEqualTo(elements > 9 ? 3 : null);
            assertThat(event.specKind()).isEqualTo(elements > 10 ? "mamba" : null);
            assertThat(event.slidingWindow()).isEqualTo(elements > 11 ? 128L : null);
        }
    }

    @Test
    void tail_slotsLeftOut_isReadByType() {
        Object infos = list(null, map("mm_objects", list(map("mm_hash", 42, "offsets", list(list(0, 4))))));

        BlockStored kindFirst = stored(tail("full_attention", 3));
        assertThat(kindFirst.specKind()).isEqualTo("full_attention");
        assertThat(kindFirst.groupIdx()).isEqualTo(3);

        BlockStored withoutKind = stored(tail(3, 128, infos));
        assertThat(withoutKind.groupIdx()).isEqualTo(3);
        assertThat(withoutKind.slidingWindow()).isEqualTo(128);
        assertThat(withoutKind.multimodalHashes()).containsExactly(List.of(), List.of(42L));

        BlockStored onlyInfos = stored(tail(infos));
        assertThat(onlyInfos.groupIdx()).isNull();
        assertThat(onlyInfos.multimodalHashes()).containsExactly(List.of(), List.of(42L));

        BlockStored byPosition = stored(tail(null, null, 128));
        assertThat(byPosition.groupIdx()).isNull();
        assertThat(byPosition.slidingWindow()).isEqualTo(128);
    }

    @Test
    void multimodalInfos_inTheSlotOfExtraKeysOrUnderTheirKey_areRead() {
        Object infos = list(map("mm_objects", list(map("mm_hash", TOP), list(7, list()))));

        assertThat(stored(Pack.batch(list("BlockStored", list(7), null, list(1, 2), 2, null, null, null, infos)))
                        .multimodalHashes())
                .containsExactly(List.of(-1L, 7L));
        Map<String, Object> event = storedMap();
        event.put("block_mm_infos", infos);
        assertThat(stored(Pack.batch(event)).multimodalHashes()).containsExactly(List.of(-1L, 7L));
    }

    @Test
    void s37_hashAsSignedUnsignedOrBytes_isTheSameNumber() {
        byte[] digest = new byte[32];
        java.util.Arrays.fill(digest, 24, 32, (byte) 0xff);
        digest[0] = 1;

        for (Object hash : list(-1, TOP, digest)) {
            BlockRemoved event = (BlockRemoved) decoder.decode(Pack.batch(list("BlockRemoved", list(hash))))
                    .events()
                    .get(0);
            assertThat(event.blockHashes().value(0)).isEqualTo(-1L);
        }
    }

    @Test
    void kI10_hashStoredUnsignedRemovedSigned_isTheSameBlock() {
        WireBatch batch = decoder.decode(Pack.batch(
                list("BlockStored", list(TOP.subtract(BigInteger.ONE)), null, list(1, 2), 2),
                list("BlockRemoved", list(-2))));

        assertThat(((BlockStored) batch.events().get(0)).blockHashes())
                .isEqualTo(((BlockRemoved) batch.events().get(1)).blockHashes());
        assertThat(Long.toUnsignedString(
                        ((BlockRemoved) batch.events().get(1)).blockHashes().value(0)))
                .isEqualTo("18446744073709551614");
    }

    @Test
    void s38_rankOfTheBatch_comesFromItsThirdElementOrKeyElseTheListener() {
        assertThat(decoder.decode(Pack.bytes(list(0.0, list()))).rankOr(3)).isEqualTo(3);
        assertThat(decoder.decode(Pack.bytes(list(0.0, list(), null))).rankOr(3))
                .isEqualTo(3);
        assertThat(decoder.decode(Pack.bytes(list(0.0, list(), 5))).rankOr(3)).isEqualTo(5);
        for (String key : List.of("data_parallel_rank", "dp_rank", "attn_dp_rank")) {
            WireBatch batch = decoder.decode(Pack.bytes(map(key, 5, "events", list(), "x", 1, "ts", 2)));
            assertThat(batch.rankOr(3)).isEqualTo(5);
            assertThat(batch.timestamp()).isEqualTo(2.0);
        }
    }

    @Test
    void s42_slotSeven_isAMapWithTheSaltOrTheAdaptersName() {
        BlockStored salted = stored(Pack.batch(list(
                "BlockStored",
                list(7),
                null,
                list(1, 2),
                2,
                null,
                "GPU",
                map("other", list(1), "cache_salt", "tenant-a"))));
        BlockStored adapted =
                stored(Pack.batch(list("BlockStored", list(7), null, list(1, 2), 2, null, "GPU", "adapter-a")));

        assertThat(salted.cacheSalt()).isEqualTo("tenant-a");
        assertThat(salted.loraName()).isNull();
        assertThat(adapted.cacheSalt()).isNull();
        assertThat(adapted.loraName()).isEqualTo("adapter-a");
    }

    @Test
    void s43_unknownTag_isSkippedAndCountedAndTheOthersAreRead() {
        WireBatch batch = decoder.decode(Pack.batch(
                list("BlockRemoved", list(1)),
                list("BlockPinned", map("block_hashes", "not ours")),
                map("block_hashes", "not ours", "type", "BlockPinned"),
                list("Ignored", 1),
                map("type", "BlockRemoved", "block_hashes", list(2))));

        assertThat(batch.events())
                .containsExactly(
                        new BlockRemoved(WireHashes.of(1), null, null, null, null),
                        new WireEvent.Ignored(),
                        new BlockRemoved(WireHashes.of(2), null, null, null, null));
        assertThat(batch.unknownEvents()).isEqualTo(2);
    }

    @Test
    void extraKeys_ofEveryType_keepTheirKind() {
        BlockStored event = stored(Pack.batch(list(
                "BlockStored",
                list(7, 8),
                null,
                list(1, 2, 3, 4),
                2,
                null,
                null,
                null,
                list(list("a", list("img", -3), new byte[] {1}, TOP, 1.5, true, list("img", 1, 2)), null))));

        assertThat(event.extraKeys())
                .containsExactly(
                        List.of(
                                new ExtraKey.Text("a"),
                                new ExtraKey.Identifier("img", -3),
                                new ExtraKey.Bytes(new byte[] {1}),
                                new ExtraKey.Scalar("18446744073709551615"),
                                new ExtraKey.Scalar("1.5"),
                                new ExtraKey.Scalar("true"),
                                new ExtraKey.Identifier("img", 1)),
                        List.of());
    }

    @Test
    void extraKeys_ofAnUnknownShape_areKeptAsTheirBytes() {
        BlockStored event = stored(Pack.batch(list(
                "BlockStored", list(7), null, list(1, 2), 2, null, null, null, list(list(list(1, "x"), map("a", 1))))));

        assertThat(event.extraKeys())
                .containsExactly(List.of(
                        new ExtraKey.Bytes(Pack.bytes(list(1, "x"))), new ExtraKey.Bytes(Pack.bytes(map("a", 1)))));
    }

    @Test
    void tokens_asPairs_keepBothTokens() {
        BlockStored event = stored(Pack.batch(list("BlockStored", list(7), null, list(list(1, 2), list(2, 3)), 2)));

        assertThat(event.tokens()).isEqualTo(WireTokens.ofPairs(1, 2, 2, 3));
        assertThat(event.tokens().second(1)).isEqualTo(3);
    }

    @Test
    void toString_ofDecodedValues_showsNoTokenAndNoSalt() {
        BlockStored event = stored(Pack.batch(storedMap()));

        assertThat(event.toString()).doesNotContain("tenant").doesNotContain("conv-7");
        assertThat(event.tokens().toString()).isEqualTo("WireTokens[4]");
    }

    private BlockStored stored(byte[] payload) {
        return (BlockStored) decoder.decode(payload).events().get(0);
    }

    private static byte[] tail(Object... elements) {
        List<Object> event =
                new ArrayList<>(list("BlockStored", list(7, 8), null, list(1, 2, 3, 4), 2, null, null, null, null));
        Collections.addAll(event, elements);
        return Pack.batch(event);
    }

    private static Object keys() {
        return list(list("adapter-a", list("image-0", -3), "tenant-a"), null);
    }

    private static Map<String, Object> storedMap() {
        return new LinkedHashMap<>(map(
                "type",
                "BlockStored",
                "block_hashes",
                list(7, 8),
                "parent_block_hash",
                6,
                "token_ids",
                list(1, 2, 3, 4),
                "block_size",
                2,
                "medium",
                "CPU",
                "lora_name",
                "adapter-a",
                "extra_keys",
                keys(),
                "group_idx",
                0,
                "kv_cache_spec_kind",
                "full_attention",
                "kv_cache_spec_sliding_window",
                128));
    }

    private WireBatch hex(String bytes) {
        return decoder.decode(HexFormat.of().parseHex(bytes));
    }
}
