package dev.tandemkv.adapters.enginewire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Whatever the bytes, the decoder answers a batch or a {@link WireFormatException}, leaves its input as it was, and decodes the same bytes
 * to the same batch. Bounded in count, so that it runs with every build.
 */
class WireDecoderFuzzPropertyTest {

    /** Batches of both encodings with every kind of field, to be mutated where no captures are at hand. */
    private static final List<byte[]> SEEDS = List.of(
            Pack.batch(
                    Pack.list(
                            "BlockStored",
                            Pack.list(7, -8, new byte[32]),
                            6,
                            Pack.list(1, 70_000, 3, 4),
                            2,
                            1,
                            "CPU",
                            "adapter-a",
                            Pack.list(Pack.list("a", Pack.list("img", -3), new byte[4], 1.5, true), null),
                            0,
                            "full_attention",
                            128),
                    Pack.list("BlockRemoved", Pack.list(1, 2), "GPU", 3),
                    Pack.list("AllBlocksCleared"),
                    Pack.list("Unknown", Pack.map("k", Pack.list(1, "x")))),
            Pack.bytes(Pack.map(
                    "attn_dp_rank", 5,
                    "events",
                            Pack.list(
                                    Pack.map(
                                            "block_hashes",
                                            Pack.list(1),
                                            "type",
                                            "BlockStored",
                                            "token_ids",
                                            Pack.list(Pack.list(1, 2), Pack.list(2, 3)),
                                            "block_size",
                                            2,
                                            "parent_block_hash",
                                            new byte[32],
                                            "lookahead_token_ids",
                                            Pack.list(Pack.list(1), null),
                                            "metadata",
                                            Pack.map("cache_salt", "t"),
                                            "block_mm_infos",
                                            Pack.list(Pack.map("mm_objects", Pack.list(Pack.map("mm_hash", 4)))),
                                            "future",
                                            1.0),
                                    Pack.map("type", "AllBlocksCleared")),
                    "ts", 3)),
            HexFormat.of().parseHex("92cb00000000000000009191b0416c6c426c6f636b73436c6561726564"));

    private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());

    @Property(tries = 3_000)
    void mutatedBatches_giveABatchOrATypedError(@ForAll("mutations") byte[] payload) {
        decodesOrRefuses(payload);
    }

    @Property(tries = 1_000)
    void randomBytes_giveABatchOrATypedError(@ForAll byte[] payload) {
        decodesOrRefuses(payload);
    }

    private void decodesOrRefuses(byte[] payload) {
        byte[] before = payload.clone();
        Object first = outcome(payload);
        assertThat(payload).isEqualTo(before);
        assertThat(outcome(payload)).isEqualTo(first);
    }

    /** Anything but a batch or the typed error fails the test. */
    private Object outcome(byte[] payload) {
        try {
            return decoder.decode(payload);
        } catch (WireFormatException e) {
            assertThat(e.offset()).isBetween(0, payload.length);
            return e.getMessage();
        }
    }

    @Provide
    Arbitrary<byte[]> mutations() {
        Arbitrary<byte[]> seeds = Arbitraries.of(seeds());
        Arbitrary<List<Mutation>> mutations = Combinators.combine(
                        Arbitraries.of(Mutation.Kind.values()),
                        Arbitraries.integers().between(0, Integer.MAX_VALUE),
                        Arbitraries.bytes())
                .as(Mutation::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(4);
        return Combinators.combine(seeds, mutations).as((seed, changes) -> {
            byte[] bytes = seed.clone();
            for (Mutation change : changes) {
                bytes = change.apply(bytes);
            }
            return bytes;
        });
    }

    /** The captures, where they are at hand, and our own. */
    private static List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>(SEEDS);
        Captures.find()
                .ifPresent(captures -> captures.all().stream()
                        .flatMap(capture -> capture.lines().stream())
                        .filter(line -> line.socket().equals("sub"))
                        .map(line -> line.frames().get(2))
                        .filter(payload -> payload.length < 2_048)
                        .forEach(seeds::add));
        return seeds;
    }

    /** One change of the bytes. */
    record Mutation(Kind kind, int at, byte value) {
        enum Kind {
            REPLACE,
            FLIP_BIT,
            CUT,
            DROP,
            INSERT,
            HUGE_COUNT,
            REPEAT
        }

        byte[] apply(byte[] bytes) {
            if (bytes.length == 0) {
                return new byte[] {value};
            }
            int where = at % bytes.length;
            byte[] changed = bytes.clone();
            switch (kind) {
                case REPLACE -> changed[where] = value;
                case FLIP_BIT -> changed[where] ^= (byte) (1 << (value & 7));
                case CUT -> changed = Arrays.copyOf(bytes, where);
                case DROP -> changed = join(Arrays.copyOf(bytes, where), rest(bytes, where + 1));
                case INSERT ->
                    changed = join(join(Arrays.copyOf(bytes, where), new byte[] {value}), rest(bytes, where));
                case HUGE_COUNT -> {
                    byte[] header = {(byte) (0xdc + (value & 3)), 0x7f, -1, -1, -1};
                    System.arraycopy(header, 0, changed, where, Math.min(header.length, bytes.length - where));
                }
                case REPEAT -> changed = join(bytes, rest(bytes, where));
            }
            return changed;
        }

        private static byte[] rest(byte[] bytes, int from) {
            return Arrays.copyOfRange(bytes, Math.min(from, bytes.length), bytes.length);
        }

        private static byte[] join(byte[] a, byte[] b) {
            byte[] joined = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, joined, a.length, b.length);
            return joined;
        }
    }
}
