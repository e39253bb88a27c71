package dev.tandemkv.testkit.engine.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FakeRankTest {

    private final List<List<byte[]>> arrived = new ArrayList<>();

    private FakeRank rank(WireDialect dialect) {
        return new FakeRank(PublisherConfig.of(dialect, 3).withTopic("kv"), new SeededRandom(5), arrived::add);
    }

    private static EngineEvent.Stored store(long hash) {
        return EngineEvent.Stored.of(null, List.of(EngineHash.unsigned(hash)), EngineTokens.of(10, 11), 2);
    }

    @Test
    void publish_changesOfOneStep_areOneBatch() {
        FakeRank rank = rank(WireDialect.VLLM_0_9);
        rank.store(store(11));
        rank.remove(EngineEvent.Removed.of(List.of(EngineHash.unsigned(11))));

        assertThat(rank.publish(0)).isTrue();
        assertThat(rank.publish(0)).isFalse();

        assertThat(arrived).hasSize(1);
        assertThat(HexFormat.of().formatHex(arrived.get(0).get(2)))
                .isEqualTo("93cb0000000000000000" + "92"
                        + "96ab426c6f636b53746f726564910bc0920a0b02c0"
                        + "92ac426c6f636b52656d6f766564910b" + "03");
    }

    @Test
    void held_ofEachMedium_isCountedApart() {
        FakeRank rank = rank(WireDialect.VLLM_0_33);
        rank.store(store(1).with(EventField.MEDIUM, "CPU"));
        rank.storeOnDevice(null, List.of(EngineHash.unsigned(2)), EngineTokens.of(1, 2), 2);

        assertThat(rank.held()).isEqualTo(Set.of(2L));
        assertThat(rank.held("CPU")).isEqualTo(Set.of(1L));

        rank.clear();

        assertThat(rank.held()).isEmpty();
        assertThat(rank.held("CPU")).isEmpty();
    }

    @Test
    void event_withAFieldThatTheReleaseLacks_isRefused() {
        FakeRank rank = rank(WireDialect.VLLM_0_24);
        rank.store(store(1).with(EventField.OWNERSHIP, "nfs"));

        assertThatThrownBy(() -> rank.publish(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ownership: nfs (expected: absent, VLLM_0_24 has no such field)");
        assertThat(rank.nextSequence()).isZero();
    }

    @Test
    void field_ofAnotherType_isRefused() {
        assertThatThrownBy(() -> store(1).with(EventField.MEDIUM, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("medium: Integer (expected: String)");
        assertThatThrownBy(() -> new EngineEvent.Removed(List.of(), Map.of(EventField.GROUP_IDX, "0")))
                .hasMessage("group_idx: String (expected: Number)");
    }

    @Test
    void restart_forgetsWhatIsUnderWay() {
        FakeRank rank = rank(WireDialect.VLLM_0_26);
        rank.inject(Fault.REORDER, 1);
        rank.inject(Fault.DROP, 1);
        rank.store(store(1));
        rank.publish(0);
        rank.stall();
        List<List<byte[]>> replies = new ArrayList<>();
        rank.answer(List.of(new byte[0], new byte[8]), replies::add);

        rank.restart();
        rank.store(store(2));
        rank.publish(0);

        assertThat(replies).isEmpty();
        assertThat(arrived).hasSize(1);
        assertThat(arrived.get(0).get(1)).containsOnly(0);
    }

    @Test
    void dialect_ofARelease_isTheNewestThatIsNotNewer() {
        assertThat(WireDialect.of("vllm", "0.9.2")).isEqualTo(WireDialect.VLLM_0_9);
        assertThat(WireDialect.of("vllm", "0.25.1")).isEqualTo(WireDialect.VLLM_0_24);
        assertThat(WireDialect.of("vllm", "1.0")).isEqualTo(WireDialect.VLLM_0_33);
        assertThat(WireDialect.of("sglang", "0.5.7")).isEqualTo(WireDialect.SGLANG_0_4);
        assertThatThrownBy(() -> WireDialect.of("vllm", "0.8")).hasMessageStartingWith("release: vllm 0.8 (expected: ");
        assertThatThrownBy(() -> WireDialect.of("vllm", "new")).hasMessageStartingWith("version: new (expected: ");
    }
}
