package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.host.RecordCodec;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Whatever arrives is a record or refused as none, and what is a record can be written again. */
class MessagePackCodecPropertyTest {

    private static final BigInteger UNSIGNED_MAX = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private final RecordCodec codec = new MessagePackCodec();

    @Provide
    Arbitrary<Map<String, @Nullable Object>> records() {
        Arbitrary<Object> leaves = Arbitraries.oneOf(
                Arbitraries.longs().between(0, 0xffff_ffffL).map(value -> (Object) value),
                // What needs 64 bits comes back as one that has room for all of them.
                Arbitraries.bigIntegers()
                        .between(BigInteger.ONE.shiftLeft(32), UNSIGNED_MAX)
                        .map(value -> (Object) value),
                Arbitraries.strings().ofMaxLength(5).map(value -> (Object) value),
                Arbitraries.of(true, false).map(value -> (Object) value),
                Arbitraries.longs()
                        .array(long[].class)
                        .ofMinSize(1)
                        .ofMaxSize(9)
                        .map(value -> (Object) value));
        Arbitrary<Object> values = Arbitraries.oneOf(
                leaves,
                Arbitraries.strings().ofMaxLength(3).list().ofMaxSize(3).map(value -> (Object) value),
                Arbitraries.maps(Arbitraries.strings().ofMaxLength(3), leaves)
                        .ofMaxSize(3)
                        .map(value -> (Object) value));
        return Arbitraries.maps(Arbitraries.strings().ofMaxLength(3), values)
                .ofMaxSize(5)
                .map(HashMap::new);
    }

    @Property(tries = 150)
    void record_comesBack(@ForAll("records") Map<String, @Nullable Object> record) throws IOException {
        assertThat(codec.decode(codec.encode(record)))
                .usingRecursiveComparison()
                .isEqualTo(record);
    }

    @Property(tries = 1_000)
    void anyBytes_areARecordOrRefused(@ForAll byte[] payload) {
        isReadOrRefused(payload);
    }

    /** Close to a record: cut off, longer, or with one byte changed. */
    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void brokenRecord_isARecordOrRefused(
            @ForAll("records") Map<String, @Nullable Object> record, @ForAll int at, @ForAll byte change) {
        byte[] whole = codec.encode(record);
        int position = Math.floorMod(at, whole.length);
        isReadOrRefused(Arrays.copyOf(whole, position));
        isReadOrRefused(Arrays.copyOf(whole, whole.length + 1 + position));
        byte[] changed = whole.clone();
        changed[position] = change;
        isReadOrRefused(changed);
    }

    private void isReadOrRefused(byte[] payload) {
        byte[] before = payload.clone();
        try {
            Map<String, @Nullable Object> read = codec.decode(payload);
            assertThat(codec.encode(read)).isNotEmpty();
        } catch (IOException e) {
            assertThat(e).hasMessageNotContaining("null");
        }
        assertThat(payload).isEqualTo(before);
    }
}
