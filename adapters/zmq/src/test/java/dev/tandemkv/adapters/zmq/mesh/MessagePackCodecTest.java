package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.affinity.AffinityReplicaRecord;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;
import dev.tandemkv.catalog.PartitionKey;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagePackCodecTest {

    private final MessagePackCodec codec = new MessagePackCodec();

    @Test
    void everyKindOfValue_comesBack() throws Exception {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("none", null);
        fields.put("text", "Grüße");
        fields.put("flag", true);
        fields.put("small", 7L);
        fields.put("large", new BigInteger("18446744073709551615"));
        fields.put("list", List.of("a", 1L, Map.of("x", false)));
        fields.put("empty", List.of());
        Map<String, @Nullable Object> read = codec.decode(codec.encode(fields));
        assertThat(read).isEqualTo(fields);
        assertThat(codec.decode(codec.encode(Map.of()))).isEmpty();
    }

    @Test
    void unsignedNumbers_takeNineBytesEach_andComeBack() throws Exception {
        long[] numbers = {0, 1, Long.MAX_VALUE, Long.MIN_VALUE, -1, 0x1234_5678_9abc_def0L};
        byte[] bytes = codec.encode(Map.of("n", numbers));
        assertThat(bytes).hasSize(1 + 2 + 1 + 9 * numbers.length);
        assertThat(codec.decode(bytes)).extracting("n").isEqualTo(numbers);
    }

    @Test
    void numbersOfAPeerThatWritesThemShort_areRead() throws Exception {
        byte[] mixed = HexFormat.of().parseHex("81a16e93" + "cfffffffffffffffff" + "07" + "cd0100");
        assertThat(codec.decode(mixed)).extracting("n").isEqualTo(new long[] {-1, 7, 256});
        byte[] allShort = HexFormat.of().parseHex("81a16e9207cd0100");
        assertThat(codec.decode(allShort)).extracting("n").isEqualTo(List.of(7L, 256L));
    }

    @Test
    void sessionRecord_roundTrips() throws Exception {
        AffinityReplicaRecord record = new AffinityReplicaRecord(
                new PartitionKey("m", "g"),
                "session",
                new AffinityTarget(-2L, 3),
                new AffinityVersion(Long.MIN_VALUE, -3),
                -1);
        assertThat(AffinityReplicaRecord.fromFields(codec.decode(codec.encode(record.toFields()))))
                .isEqualTo(record);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", // nothing
                "c0", // nil
                "90", // a list
                "81", // a field that is missing
                "8107c0", // a number as name
                "81a161", // a value that is missing
                "8080", // two records
                "82a161c0a161c0", // one name twice
                "81a161cb3ff0000000000000", // a float
                "81a161c40101", // bytes
                "81a161c70101ff", // an extension
                "81a161dfffffffff", // a map of four billion
                "81a161ddffffffff", // a list of four billion
                "81a161dd7fffffff", // a list of two billion
                "81a161ddffffffffcf0000000000000001", // numbers, four billion
                "81a161dbffffffff", // a text of four billion
                "81a161db7fffffff", // a text of two billion
                "81a16192cf0000000000000001ff", // a negative one among unsigned ones
                "81a16191919191919191919191919191919191919191919191", // deep
                "81a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a161c0",
                "c1" // never used
            })
    void brokenOrHostileBytes_areRefused(String hex) {
        assertThatThrownBy(() -> codec.decode(HexFormat.of().parseHex(hex))).isInstanceOf(IOException.class);
    }

    /** Each of these bytes would be an object of its own. */
    @ParameterizedTest
    @ValueSource(strings = {"90", "80", "a0"})
    void millionsOfTinyThings_areRefused(String tiny) {
        byte[] payload = new byte[4 << 20];
        Arrays.fill(payload, HexFormat.of().parseHex(tiny)[0]);
        // {"a": [tiny, tiny, ...]}
        byte[] head = HexFormat.of().parseHex("81a161dd003ffff8");
        System.arraycopy(head, 0, payload, 0, head.length);
        assertThatThrownBy(() -> codec.decode(payload))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("more than");
    }

    @Test
    void longestSequence_isRead() throws Exception {
        long[] numbers = LongStream.range(0, 1 << 20).toArray();
        assertThat(codec.decode(codec.encode(Map.of("n", numbers))))
                .extracting("n")
                .isEqualTo(numbers);
    }
}
