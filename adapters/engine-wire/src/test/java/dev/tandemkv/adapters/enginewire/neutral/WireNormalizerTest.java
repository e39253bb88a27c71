package dev.tandemkv.adapters.enginewire.neutral;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.enginewire.ExtraKey;
import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.adapters.enginewire.WireEvent;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockRemoved;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.adapters.enginewire.WireEvent.KeyForm;
import dev.tandemkv.adapters.enginewire.WireHashes;
import dev.tandemkv.adapters.enginewire.WireTokens;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rules of normalisation, one scenario or case each; blocks of two tokens. */
class WireNormalizerTest {

    private static final BlockHasher HASHER = BlockHasher.ofBlockSize(2);
    private static final int[] FOUR = {1, 2, 3, 4};
    private static final String HEX64 = "0123456789abcdef".repeat(4);

    private final WireNormalizer normalizer = normalizer(HASHER, EngineFamily.UNKNOWN);

    // ---- groups

    @Test
    void s39_kindThatIsNotTheMainAttention_isDroppedEvenInGroupZero() {
        assertThat(events(store(1).groupIdx(0).specKind("mamba").build())).isEmpty();
        assertThat(dropped(DropReason.NON_MAIN_ATTENTION_KIND)).isEqualTo(1);
    }

    @Test
    void s39_groupLearnedOnOneRank_keepsItsRemovalsThereAndNotOnAnother() {
        normalize(0, store(1).groupIdx(3).specKind("full_attention").build());

        assertThat(normalize(0, removal(1, 3))).containsExactly(KvEvent.Removed.device(1));
        assertThat(normalize(1, removal(1, 3))).isEmpty();
        assertThat(dropped(DropReason.UNLEARNED_GROUP_IDX)).isEqualTo(1);
    }

    @Test
    void s39_bareGroupOtherThanZero_isDropped() {
        assertThat(events(store(1).groupIdx(1).build(), removal(1, 1))).isEmpty();
        assertThat(events(store(1).groupIdx(0).build(), removal(1, 0))).hasSize(2);
    }

    @Test
    void s39_removal_neverTeaches() {
        events(removal(1, 3));

        assertThat(events(removal(1, 3))).isEmpty();
        assertThat(dropped(DropReason.UNLEARNED_GROUP_IDX)).isEqualTo(2);
    }

    @Test
    void groupLearnedAsAnotherKind_dropsWhatNamesNoKind() {
        events(store(1).groupIdx(0).specKind("sliding_window").build());

        assertThat(events(store(2).groupIdx(0).build(), removal(1, 0))).isEmpty();
        assertThat(dropped(DropReason.NON_MAIN_ATTENTION_GROUP)).isEqualTo(2);
    }

    @Test
    void mainKinds_areKept() {
        for (String kind : List.of("full_attention", "mla_attention", "sink_full_attention")) {
            assertThat(events(store(1).groupIdx(2).specKind(kind).build())).hasSize(1);
        }
    }

    @Test
    void s39a_kindUnknown_isDroppedUnderItsReason() {
        assertThat(events(
                        store(1).groupIdx(0).specKind("unknown").build(),
                        store(1).specKind("of-tomorrow").build()))
                .isEmpty();
        assertThat(dropped(DropReason.UNKNOWN_KIND)).isEqualTo(2);
    }

    @Test
    void s39a_placeholderStore_isDroppedUnderItsReason() {
        BlockStored placeholder = BlockStored.builder(WireHashes.of(9), WireTokens.of(), 0)
                .medium("CPU")
                .groupIdx(1)
                .specKind("sliding_window")
                .build();

        assertThat(events(placeholder)).isEmpty();
        assertThat(normalizer.stats().dropped()).containsOnlyKeys(DropReason.PLACEHOLDER_STORE);
    }

    @Test
    void s39a_fewerHashesThanTokenBlocks_storesNothing() {
        assertThat(events(BlockStored.builder(WireHashes.of(1), WireTokens.of(FOUR), 2)
                        .build()))
                .containsExactly(KvEvent.Stored.device(null, new long[0], new long[0]));
        assertThat(dropped(DropReason.HASH_TOKEN_MISMATCH)).isEqualTo(1);
    }

    @Test
    void s39b_oneHashUnderTwoGroups_leavesWithTheMainOneOnly() {
        PrefixIndex index =
                PrefixIndex.builder().defaultTraits(EngineFamily.VLLM.traits()).build();
        WorkerRank rank = WorkerRank.of(7);
        apply(
                index,
                events(
                        store(1).groupIdx(0).specKind("full_attention").build(),
                        store(1).groupIdx(1)
                                .specKind("sliding_window")
                                .slidingWindow(32L)
                                .build(),
                        removal(1, 1)));
        assertThat(index.blocks(rank)).isEqualTo(1);

        apply(index, events(removal(1, 0)));
        assertThat(index.blocks(rank)).isZero();
    }

    // ---- namespaces

    @Test
    void s40_child_inheritsItsParentsNamespace() {
        assertThat(events(
                        store(1).cacheSalt("tenant-a").build(),
                        child(1, 2).build(),
                        child(2, 3).cacheSalt("").build()))
                .extracting(event -> ((KvEvent.Stored) event).localHashes()[0])
                .containsOnly(local("tenant-a"));
    }

    @Test
    void s40_twoNamespacesOnOneHash_dropTheirChildrenAndTheirs() {
        events(
                store(1).cacheSalt("tenant-a").build(),
                store(1).cacheSalt("tenant-b").build());

        assertThat(events(child(1, 2).build(), child(2, 3).build())).isEmpty();
        assertThat(dropped(DropReason.AMBIGUOUS_CACHE_NAMESPACE)).isEqualTo(2);
    }

    @Test
    void s40_saltedThenUnsalted_isAmbiguous() {
        events(store(1).cacheSalt("tenant-a").build(), store(1).build());

        assertThat(events(child(1, 2).build())).isEmpty();
        assertThat(events(removal(1, null), child(1, 2).build())).hasSize(1);
        assertThat(dropped(DropReason.AMBIGUOUS_CACHE_NAMESPACE)).isEqualTo(2);
    }

    @Test
    void s40_childWithItsOwnNamespace_needsNoParents() {
        events(store(1).cacheSalt("tenant-a").build(), store(1).build());

        assertThat(localOf(child(1, 2).cacheSalt("tenant-b").build())).isEqualTo(local("tenant-b"));
    }

    @Test
    void s40_clearAndNewPublisher_forget() {
        events(store(1).cacheSalt("tenant-a").build(), new WireEvent.AllBlocksCleared());
        assertThat(localOf(child(1, 2).build())).isEqualTo(local(""));

        events(store(1).cacheSalt("tenant-a").build());
        normalizer.restart(0);
        assertThat(localOf(child(1, 2).build())).isEqualTo(local(""));
    }

    @Test
    void s40_ranks_areIndependent() {
        normalize(0, store(1).cacheSalt("tenant-a").build());

        assertThat(((KvEvent.Stored) normalize(1, child(1, 2).build()).get(0)).localHashes())
                .containsExactly(local(""));
    }

    @Test
    void removal_ofAnUnambiguousBlock_forgetsItsNamespaceWithTheLastCopy() {
        events(store(1).cacheSalt("tenant-a").build(), removal(1, null));
        assertThat(localOf(child(1, 2).build())).isEqualTo(local(""));

        WireNormalizer counting = normalizer(HASHER, EngineFamily.VLLM);
        counting.normalize(batch(
                null,
                store(1).cacheSalt("tenant-a").build(),
                store(1).cacheSalt("tenant-a").build(),
                removal(1, null)));
        assertThat(localOf(counting, child(1, 2).build())).isEqualTo(local("tenant-a"));
        counting.normalize(batch(null, removal(1, null)));
        assertThat(localOf(counting, child(1, 3).build())).isEqualTo(local(""));
    }

    @Test
    void removal_fromOneTier_keepsTheNamespaceOfTheOther() {
        events(
                store(1).cacheSalt("tenant-a").build(),
                store(1).cacheSalt("tenant-a").medium("CPU").build(),
                removal(1, null));

        assertThat(localOf(child(1, 2).medium("CPU").build())).isEqualTo(local("tenant-a"));
    }

    @Test
    void namespaces_beyondTheBound_areForgottenOldestFirst() {
        WireNormalizer narrow =
                new WireNormalizer(new NormalizerConfig(WorkerRank.of(7), HASHER, EngineFamily.UNKNOWN, 2, 2));
        narrow.normalize(batch(
                null,
                store(1).cacheSalt("a").build(),
                store(2).cacheSalt("a").build(),
                store(3).cacheSalt("a").build()));

        assertThat(localOf(narrow, child(1, 4).build())).isEqualTo(local(""));
        assertThat(localOf(narrow, child(3, 5).build())).isEqualTo(local("a"));
    }

    @Test
    void ranks_beyondTheBound_areRefused() {
        WireNormalizer narrow =
                new WireNormalizer(new NormalizerConfig(WorkerRank.of(7), HASHER, EngineFamily.UNKNOWN, 2, 2));
        narrow.normalize(batch(0));
        narrow.normalize(batch(1));

        assertThatThrownBy(() -> narrow.normalize(batch(2)))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("data_parallel_rank: 2");
        assertThat(narrow.normalize(batch(1)).rank()).isEqualTo(new WorkerRank(7, 1));
    }

    // ---- geometry

    @Test
    void kF4_s41_anotherBlockSize_givesAnEmptyStoreAndDisturbsNothing() {
        BlockStored odd = BlockStored.builder(WireHashes.of(5), WireTokens.of(FOUR), 4)
                .parent(WireHashes.of(99))
                .build();

        assertThat(events(odd, store(1).build()))
                .containsExactly(
                        KvEvent.Stored.device(99L, new long[0], new long[0]),
                        KvEvent.Stored.device(null, new long[] {1}, new long[] {local("")}));
        assertThat(dropped(DropReason.CONFLICTING_BLOCK_SIZE)).isEqualTo(1);
    }

    @Test
    void kI6_tokensThatContradictTheDeclaredSize_areRejectedLoudly() {
        BlockStored physical = BlockStored.builder(WireHashes.of(1, 2), WireTokens.of(new int[8]), 2)
                .build();

        assertThat(((KvEvent.Stored) events(physical).get(0)).blocks()).isZero();
        assertThat(dropped(DropReason.HASH_TOKEN_MISMATCH)).isEqualTo(1);
    }

    @Test
    void s41_tokenListShortByOneBlock_keepsTheEarlierOnes() {
        BlockStored event = BlockStored.builder(WireHashes.of(1, 2, 3), WireTokens.of(1, 2, 3, 4, 5), 2)
                .build();

        KvEvent.Stored stored = (KvEvent.Stored) events(event).get(0);
        assertThat(stored.externalHashes()).containsExactly(1, 2);
        assertThat(stored.localHashes()).containsExactly(hashes(HASHER, HashScope.BASE, FOUR));
        assertThat(dropped(DropReason.SHORT_TOKEN_LIST)).isEqualTo(1);
    }

    @Test
    void kI7_blockSizeOfZero_isNeverAGeometry() {
        assertThatThrownBy(
                        () -> NormalizerConfig.of(WorkerRank.of(7), BlockHasher.ofBlockSize(0), EngineFamily.UNKNOWN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("blockSize");
        BlockStored event =
                BlockStored.builder(WireHashes.of(1), WireTokens.of(1, 2), 0).build();
        assertThat(((KvEvent.Stored) events(event).get(0)).blocks()).isZero();
        assertThat(dropped(DropReason.CONFLICTING_BLOCK_SIZE)).isEqualTo(1);
    }

    @Test
    void kF6_kF7_s15_repeatedHashInOneEvent_becomesAnEmptyRemoval() {
        BlockStored twice = BlockStored.builder(WireHashes.of(1, 2, 1), WireTokens.of(1, 2, 3, 4, 5, 6), 2)
                .build();
        BlockStored ownParent = child(1, 1).build();

        assertThat(events(twice, ownParent)).containsOnly(KvEvent.Removed.device());
        assertThat(dropped(DropReason.DUPLICATE_HASH)).isEqualTo(2);
    }

    @Test
    void kI5_pairs_belongToAPartitionWithALookaheadOnly() {
        WireNormalizer bigrams = normalizer(HASHER.withLookahead(1), EngineFamily.SGLANG);
        BlockStored pairs = BlockStored.builder(WireHashes.of(1, 2), WireTokens.ofPairs(1, 2, 2, 3, 3, 4, 4, 5), 2)
                .build();
        long[] expected = hashes(HASHER.withLookahead(1), HashScope.BASE, new int[] {1, 2, 3, 4, 5});

        assertThat(((KvEvent.Stored) events(bigrams, pairs).get(0)).localHashes())
                .containsExactly(expected);
        assertThat(((KvEvent.Stored) events(pairs).get(0)).blocks()).isZero();
        assertThat(((KvEvent.Stored) events(bigrams, store(3).build()).get(0)).blocks())
                .isZero();
        assertThat(dropped(DropReason.CONFLICTING_LOOKAHEAD)).isEqualTo(1);
    }

    @Test
    void pairs_thatDoNotOverlap_endTheStoreBeforeThem() {
        WireNormalizer bigrams = normalizer(HASHER.withLookahead(1), EngineFamily.SGLANG);
        BlockStored broken = BlockStored.builder(WireHashes.of(1, 2), WireTokens.ofPairs(1, 2, 2, 3, 3, 4, 9, 5), 2)
                .build();

        assertThat(((KvEvent.Stored) events(bigrams, broken).get(0)).externalHashes())
                .containsExactly(1);
    }

    @Test
    void s41b_lookaheadOfOne_equalsTheEagleWindow() {
        WireNormalizer one = normalizer(HASHER.withLookahead(1), EngineFamily.VLLM);
        BlockStored event = BlockStored.builder(WireHashes.of(1, 2), WireTokens.of(FOUR), 2)
                .lookaheadTokens(List.of(List.of(3), List.of(5)))
                .build();

        assertThat(((KvEvent.Stored) events(one, event).get(0)).localHashes())
                .containsExactly(hashes(HASHER.withLookahead(1), HashScope.BASE, new int[] {1, 2, 3, 4, 5}));
    }

    @Test
    void s41b_storesThatDifferInTheirLookaheadOnly_haveDifferentLocals() {
        WireNormalizer one = normalizer(HASHER.withLookahead(1), EngineFamily.VLLM);

        assertThat(localOf(one, store(1).lookaheadTokens(List.of(List.of(3))).build()))
                .isNotEqualTo(localOf(
                        one, store(2).lookaheadTokens(List.of(List.of(4))).build()));
    }

    @Test
    void s41b_lookaheadOfAnotherLength_givesAnEmptyStore() {
        WireNormalizer one = normalizer(HASHER.withLookahead(1), EngineFamily.VLLM);

        for (BlockStored event :
                List.of(store(1).lookaheadTokens(List.of(List.of(3, 4))).build(), store(1).build())) {
            assertThat(((KvEvent.Stored) events(one, event).get(0)).blocks()).isZero();
        }
        assertThat(one.stats().dropped(DropReason.CONFLICTING_LOOKAHEAD)).isEqualTo(2);
        assertThat(((KvEvent.Stored) events(store(1).lookaheadTokens(List.of(List.of(3)))
                                        .build())
                                .get(0))
                        .blocks())
                .isZero();
    }

    @Test
    void lookahead_stillAwaitedByABlock_endsTheStoreThere() {
        WireNormalizer one = normalizer(HASHER.withLookahead(1), EngineFamily.VLLM);
        BlockStored event = BlockStored.builder(WireHashes.of(1, 2), WireTokens.of(FOUR), 2)
                .lookaheadTokens(List.of(List.of(3), List.of()))
                .build();

        assertThat(((KvEvent.Stored) events(one, event).get(0)).externalHashes())
                .containsExactly(1);
        assertThat(((KvEvent.Stored) events(
                                        one,
                                        store(3).lookaheadTokens(List.of(List.of()))
                                                .build())
                                .get(0))
                        .blocks())
                .isZero();
        assertThat(one.stats().dropped(DropReason.SHORT_TOKEN_LIST)).isEqualTo(2);
    }

    // ---- keys

    @Test
    void kI1_adapters_haveDisjointHashes() {
        assertThat(List.of(
                        localOf(store(1).build()),
                        localOf(store(2).loraName("a").build()),
                        localOf(store(3).loraName("b").build())))
                .doesNotHaveDuplicates()
                .containsExactly(local(""), scoped("a", ""), scoped("b", ""));
    }

    @Test
    void kI2_s41a_adapterAmongTheKeys_isTakenOnceAndWhatFollowsCounts() {
        assertThat(localOf(store(1).loraName("adapter-a")
                        .extraKeys(keys(text("adapter-a"), text("tenant-a")))
                        .build()))
                .isEqualTo(scoped("adapter-a", "tenant-a"));
        assertThat(localOf(store(2).loraName("a")
                        .extraKeys(keys(text("a"), text("a")))
                        .build()))
                .isEqualTo(scoped("a", "a"));
        assertThat(localOf(store(3).loraName("a")
                        .extraKeys(keys(text("a"), new ExtraKey.Identifier("image", 0), text("tenant-a")))
                        .build()))
                .isEqualTo(withObjects(HashScope.of("a", "tenant-a"), identifier("image")));
    }

    @Test
    void kI3_s41a_bareSaltOfAFirstBlock_isTheNamespaceForStoreAndQueryAlike() {
        PrefixIndex index = PrefixIndex.builder().build();
        int[] prompt = new int[16];
        WireEvent stored = BlockStored.builder(WireHashes.of(1, 2, 3, 4, 5, 6, 7, 8), WireTokens.of(prompt), 2)
                .extraKeys(keys(text("salt")))
                .build();
        apply(index, events(stored));

        assertThat(score(index, HashScope.of(null, "salt"), prompt)).isEqualTo(8);
        assertThat(score(index, HashScope.of(null, "salt-2"), prompt)).isZero();
        assertThat(score(index, HashScope.BASE, prompt)).isZero();
    }

    @Test
    void s41a_dynamoPrefix_isTakenOff() {
        assertThat(localOf(store(1).extraKeys(keys(text("dynamo-cache-salt:tenant-a")))
                        .build()))
                .isEqualTo(local("tenant-a"));
    }

    @Test
    void s41a_sixtyFourHexCharacters_areAnIdentifierWhereIdentifiersAreBareAndElseASalt() {
        assertThat(localOf(store(1).extraKeys(keys(text(HEX64)))
                        .keyForm(KeyForm.BARE)
                        .build()))
                .isEqualTo(withObjects(HashScope.BASE, 0x0123456789abcdefL));
        assertThat(localOf(store(2).extraKeys(keys(text(HEX64))).build())).isEqualTo(local(HEX64));
    }

    @Test
    void s41a_pairWithANegativeOffset_isMultimodal() {
        assertThat(localOf(store(1).extraKeys(keys(new ExtraKey.Identifier("image", -3)))
                        .build()))
                .isEqualTo(withObjects(HashScope.BASE, identifier("image")));
    }

    @Test
    void bareTextBehindTheFirstBlock_entersItsBlocksHash() {
        BlockStored event = BlockStored.builder(WireHashes.of(1, 2), WireTokens.of(1, 2, 1, 2), 2)
                .extraKeys(List.of(List.of(), List.of(text("image"))))
                .build();
        long[] locals = ((KvEvent.Stored) events(event).get(0)).localHashes();

        assertThat(locals).containsExactly(local(""), withObjects(HashScope.BASE, identifier("image")));
        assertThat(localOf(child(2, 3).extraKeys(keys(text("image"))).build()))
                .isEqualTo(withObjects(HashScope.BASE, identifier("image")));
    }

    @Test
    void digestsAndNumbers_enterTheirBlocksHash() {
        byte[] digest = {1, 2, 3};

        assertThat(localOf(store(1).extraKeys(keys(new ExtraKey.Bytes(digest))).build()))
                .isEqualTo(withObjects(HashScope.BASE, MultimodalObjects.contentHash(digest)));
        assertThat(localOf(store(2).extraKeys(keys(new ExtraKey.Scalar("7"))).build()))
                .isEqualTo(withObjects(
                        HashScope.BASE, MultimodalObjects.contentHash("7".getBytes(StandardCharsets.UTF_8))));
    }

    @Test
    void announcedMultimodalHashes_takeThePlaceOfIdentifiers() {
        assertThat(localOf(store(1).multimodalHashes(List.of(List.of(42L)))
                        .extraKeys(keys(new ExtraKey.Identifier("image", 0)))
                        .build()))
                .isEqualTo(withObjects(HashScope.BASE, 42));
    }

    @Test
    void namespaceOfTheEvent_goesBeforeTheBareSaltAndASecondSaltIsNotIgnored() {
        assertThat(localOf(store(1).cacheSalt("a").extraKeys(keys(text("a"))).build()))
                .isEqualTo(local("a"));
        assertThat(localOf(store(2).cacheSalt("a").extraKeys(keys(text("b"))).build()))
                .isEqualTo(withObjects(HashScope.of(null, "a"), identifier("b")));
    }

    @Test
    void s42_saltFromMetadata_isANamespaceAndNoAdapter() {
        assertThat(localOf(store(1).cacheSalt("tenant-a").build())).isEqualTo(scoped("", "tenant-a"));
        assertThat(localOf(store(2).loraName("tenant-a").build())).isEqualTo(scoped("tenant-a", ""));
    }

    @Test
    void kI4_imageInOneOfThreeBlocks_sharesTheBlocksBeforeItOnly() {
        PrefixIndex index = PrefixIndex.builder().build();
        int[] prompt = {1, 2, 9, 9, 5, 6};
        apply(
                index,
                events(BlockStored.builder(WireHashes.of(1, 2, 3), WireTokens.of(prompt), 2)
                        .extraKeys(List.of(List.of(), List.of(new ExtraKey.Identifier("image-a", 0)), List.of()))
                        .build()));
        long[] other = new long[3];
        HASHER.locals(
                prompt,
                6,
                HashScope.BASE,
                MultimodalObjects.perBlock(Arrays.asList(null, new long[] {identifier("image-b")}, null)),
                other);

        assertThat(score(index, other)).isEqualTo(1);
    }

    // ---- places

    @Test
    void s34_media_areTiersWhateverTheirCase() {
        assertThat(tierOf(null)).isEqualTo(Tier.DEVICE);
        assertThat(tierOf("")).isEqualTo(Tier.DEVICE);
        for (String name : List.of("GPU", "gpu", "DEVICE")) {
            assertThat(tierOf(name)).isEqualTo(Tier.DEVICE);
        }
        for (String name : List.of("CPU", "cpu", "CPU_PINNED", "CPU_TIER1")) {
            assertThat(tierOf(name)).isEqualTo(Tier.HOST_PINNED);
        }
        for (String name : List.of("CPU_TIER2", "DISK", "NVME", "STORAGE", "FS", "OBJ")) {
            assertThat(tierOf(name)).isEqualTo(Tier.DISK);
        }
        for (String name : List.of("EXTERNAL", "NETWORK", "REMOTE", "SHARED")) {
            assertThat(tierOf(name)).isEqualTo(Tier.EXTERNAL);
        }
        assertThat(events(store(1).medium("FOO").build(), new BlockRemoved(WireHashes.of(1), "FOO", null, null, null)))
                .isEmpty();
        assertThat(dropped(DropReason.UNKNOWN_MEDIUM)).isEqualTo(2);
    }

    @Test
    void s34_localityOtherThanLocal_isDropped() {
        assertThat(events(store(1).locality("LOCAL").build())).hasSize(1);
        assertThat(events(
                        store(1).locality("REMOTE").build(),
                        store(1).locality("ELSEWHERE").build()))
                .isEmpty();
        assertThat(dropped(DropReason.REMOTE_LOCALITY)).isEqualTo(2);
    }

    @Test
    void s34a_ownership_travelsBelowTheDevice() {
        KvEvent.Stored disk = (KvEvent.Stored)
                events(store(1).medium("FS").ownership("fs-0").build()).get(0);
        KvEvent.Removed gone =
                (KvEvent.Removed) events(new BlockRemoved(WireHashes.of(1), "STORAGE", null, null, "fs-0"))
                        .get(0);
        KvEvent.Stored device =
                (KvEvent.Stored) events(store(2).ownership("fs-0").build()).get(0);

        assertThat(disk.ownership()).isEqualTo("fs-0");
        assertThat(gone.ownership()).isEqualTo("fs-0");
        assertThat(device.ownership()).isNull();
    }

    // ---- ranks and counters

    @Test
    void s38_rankOfTheBatch_orOfTheListener() {
        WireNormalizer listener =
                new WireNormalizer(NormalizerConfig.of(new WorkerRank(7, 3), HASHER, EngineFamily.UNKNOWN));

        assertThat(listener.normalize(batch(null)).rank()).isEqualTo(new WorkerRank(7, 3));
        assertThat(listener.normalize(batch(5)).rank()).isEqualTo(new WorkerRank(7, 5));
    }

    @Test
    void stats_ofTwoSnapshots_subtract() {
        events(store(1).build(), new WireEvent.Ignored());
        NormalizerStats before = normalizer.stats();
        normalizer.normalize(new WireBatch(0, List.of(new WireEvent.Ignored()), null, 2));

        NormalizerStats difference = normalizer.stats().minus(before);
        assertThat(before.emitted()).isEqualTo(1);
        assertThat(difference.batches()).isEqualTo(1);
        assertThat(difference.dropped())
                .containsOnly(
                        java.util.Map.entry(DropReason.IGNORED_EVENT, 1L),
                        java.util.Map.entry(DropReason.UNKNOWN_TAG, 2L));
    }

    @Test
    void families_tellTheIndexWhatTheirRepeatsMean() {
        assertThat(EngineFamily.VLLM.traits().countsCopies()).isTrue();
        assertThat(EngineFamily.VLLM.traits().rootStoresAddCopies()).isFalse();
        for (EngineFamily family : List.of(EngineFamily.SGLANG, EngineFamily.TENSORRT_LLM, EngineFamily.UNKNOWN)) {
            assertThat(family.traits().countsCopies()).isFalse();
        }
    }

    // ---- words of these tests

    private static WireNormalizer normalizer(BlockHasher hasher, EngineFamily family) {
        return new WireNormalizer(NormalizerConfig.of(WorkerRank.of(7), hasher, family));
    }

    /** One root block of the tokens 1, 2. */
    private static BlockStored.Builder store(long hash) {
        return BlockStored.builder(WireHashes.of(hash), WireTokens.of(1, 2), 2);
    }

    private static BlockStored.Builder child(long parent, long hash) {
        return store(hash).parent(WireHashes.of(parent));
    }

    private static BlockRemoved removal(long hash, @Nullable Integer group) {
        return new BlockRemoved(WireHashes.of(hash), "GPU", group, null, null);
    }

    private static ExtraKey text(String text) {
        return new ExtraKey.Text(text);
    }

    private static List<List<ExtraKey>> keys(ExtraKey... ofFirstBlock) {
        return List.of(List.of(ofFirstBlock));
    }

    private static WireBatch batch(@Nullable Integer rank, WireEvent... events) {
        return new WireBatch(0, List.of(events), rank, 0);
    }

    private List<KvEvent> normalize(int rank, WireEvent... events) {
        return normalizer.normalize(batch(rank, events)).events();
    }

    private List<KvEvent> events(WireEvent... events) {
        return events(normalizer, events);
    }

    private static List<KvEvent> events(WireNormalizer normalizer, WireEvent... events) {
        return normalizer.normalize(batch(null, events)).events();
    }

    private long dropped(DropReason reason) {
        return normalizer.stats().dropped(reason);
    }

    private long localOf(WireEvent stored) {
        return localOf(normalizer, stored);
    }

    private static long localOf(WireNormalizer normalizer, WireEvent stored) {
        return ((KvEvent.Stored) events(normalizer, stored).get(0)).localHashes()[0];
    }

    private Tier tierOf(@Nullable String medium) {
        return ((KvEvent.Stored) events(store(1).medium(medium).build()).get(0)).tier();
    }

    private static long local(String namespace) {
        return scoped("", namespace);
    }

    private static long scoped(String lora, String namespace) {
        return hashes(HASHER, HashScope.of(lora, namespace), new int[] {1, 2})[0];
    }

    private static long withObjects(HashScope scope, long... objects) {
        long[] local = new long[1];
        HASHER.locals(new int[] {1, 2}, 2, scope, MultimodalObjects.perBlock(List.of(objects)), local);
        return local[0];
    }

    private static long identifier(String text) {
        return MultimodalObjects.identifierHash(text).orElseThrow();
    }

    private static long[] hashes(BlockHasher hasher, HashScope scope, int[] tokens) {
        long[] locals = new long[hasher.blocks(tokens.length)];
        hasher.locals(tokens, tokens.length, scope, MultimodalObjects.NONE, locals);
        return locals;
    }

    private static void apply(PrefixIndex index, List<KvEvent> events) {
        events.forEach(event -> index.apply(WorkerRank.of(7), event));
    }

    private static int score(PrefixIndex index, HashScope scope, int[] tokens) {
        return score(index, hashes(HASHER, scope, tokens));
    }

    private static int score(PrefixIndex index, long[] locals) {
        OverlapScores scores = OverlapScores.create();
        index.find(locals, locals.length, scores);
        return scores.blocks(index.slotOf(WorkerRank.of(7)));
    }
}
