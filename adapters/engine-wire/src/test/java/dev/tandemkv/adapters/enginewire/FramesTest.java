package dev.tandemkv.adapters.enginewire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class FramesTest {

    private static final byte[] EMPTY = new byte[0];
    private static final byte[] PAYLOAD = {1};
    private static final byte[] TOP = {-1, -1, -1, -1, -1, -1, -1, -1};

    @Test
    void s38a_topicThatOnlyStartsLikeTheExpectedOne_isNotForIt() {
        LiveMessage message = LiveMessage.of(List.of(utf8("kv@pod-10"), new byte[8], PAYLOAD));

        assertThat(message.isFor("kv@pod-1")).isFalse();
        assertThat(message.isFor("kv@pod-10")).isTrue();
    }

    @Test
    void live_sequence_isBigEndianUnsigned() {
        assertThat(LiveMessage.of(List.of(EMPTY, new byte[] {0, 0, 0, 0, 0, 0, 1, 2}, PAYLOAD))
                        .sequence())
                .isEqualTo(258);
        assertThat(LiveMessage.of(List.of(EMPTY, TOP, PAYLOAD)).toString()).contains("18446744073709551615");
    }

    @Test
    void s49_replyOfThreeOrFourFrames_isRead() {
        ReplayMessage.Data three = (ReplayMessage.Data) ReplayMessage.of(List.of(EMPTY, Frames.sequence(7), PAYLOAD));
        ReplayMessage.Data four =
                (ReplayMessage.Data) ReplayMessage.of(List.of(EMPTY, utf8("kv"), Frames.sequence(7), PAYLOAD));

        assertThat(three.topic()).isNull();
        assertThat(four.topic()).isEqualTo("kv");
        assertThat(List.of(three.sequence(), four.sequence())).containsOnly(7L);
    }

    @Test
    void s49_emptyPayload_endsTheReplay() {
        assertThat(ReplayMessage.of(List.of(EMPTY, TOP, EMPTY))).isEqualTo(new ReplayMessage.End());
        assertThat(ReplayMessage.of(List.of(EMPTY, EMPTY, TOP, EMPTY))).isEqualTo(new ReplayMessage.End());
    }

    @Test
    void request_forAStart_isTheDelimiterAndEightBytes() {
        assertThat(ReplayMessage.request(258)).containsExactly(EMPTY, new byte[] {0, 0, 0, 0, 0, 0, 1, 2});
        assertThat(ReplayMessage.request(-1)).containsExactly(EMPTY, TOP);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
