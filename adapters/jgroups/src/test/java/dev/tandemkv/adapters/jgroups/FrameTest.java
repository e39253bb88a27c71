package dev.tandemkv.adapters.jgroups;

import static dev.tandemkv.selection.host.ReplicaChannel.BOOKINGS;
import static dev.tandemkv.selection.host.ReplicaChannel.SESSIONS;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FrameTest {

    @Test
    void frame_isAByteAndThePayload() {
        assertThat(Frame.listening()).containsExactly(1);
        assertThat(Frame.of(BOOKINGS, new byte[] {7, 8})).containsExactly(2, 7, 8);
        assertThat(Frame.of(SESSIONS, new byte[0])).containsExactly(3);
    }

    @Test
    void whatIsWritten_isRead() {
        Frame bookings = Frame.read(Frame.of(BOOKINGS, new byte[] {7, 8}));
        assertThat(bookings).isNotNull();
        assertThat(bookings.kind().topic()).isEqualTo(BOOKINGS);
        assertThat(bookings.payload()).containsExactly(7, 8);
        assertThat(Frame.read(Frame.of(SESSIONS, new byte[0])))
                .extracting(Frame::kind)
                .isEqualTo(Frame.Kind.SESSIONS);
        assertThat(Frame.read(Frame.listening())).extracting(Frame::kind).isEqualTo(Frame.Kind.LISTENING);
    }

    @Test
    void kindsOfALaterVersion_areNone() {
        for (int code = 0; code < 256; code++) {
            if (code < 1 || code > 3) {
                assertThat(Frame.read(new byte[] {(byte) code, 1, 2})).isNull();
            }
        }
    }
}
