package dev.tandemkv.adapters.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

class PiecesTest {

    private final List<String> signals = new ArrayList<>();

    private Flow.Subscription subscribe(long demandAtEach) {
        List<Flow.Subscription> got = new ArrayList<>();
        List<ByteBuffer> pieces = List.of(ByteBuffer.allocate(1), ByteBuffer.allocate(2), ByteBuffer.allocate(3));
        new Pieces(pieces).subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                got.add(subscription);
            }

            @Override
            public void onNext(ByteBuffer piece) {
                signals.add("next " + piece.remaining());
                if (demandAtEach > 0) {
                    got.get(0).request(demandAtEach);
                }
            }

            @Override
            public void onError(Throwable failure) {
                signals.add("error");
            }

            @Override
            public void onComplete() {
                signals.add("complete");
            }
        });
        return got.get(0);
    }

    @Test
    void demand_isNeverExceeded_andTheEndFollowsTheLastPiece() {
        Flow.Subscription subscription = subscribe(0);

        subscription.request(2);
        assertThat(signals).containsExactly("next 1", "next 2");
        subscription.request(1);
        assertThat(signals).containsExactly("next 1", "next 2", "next 3", "complete");
    }

    @Test
    void demandFromInsideASignal_andDemandWithoutEnd_giveEachPieceOnce() {
        subscribe(Long.MAX_VALUE).request(Long.MAX_VALUE);

        assertThat(signals).containsExactly("next 1", "next 2", "next 3", "complete");
    }

    @Test
    void demandOfNone_isAnError_andTheLastSignal() {
        Flow.Subscription subscription = subscribe(0);

        subscription.request(0);
        subscription.request(1);
        subscription.request(-1);

        assertThat(signals).containsExactly("error");
    }

    @Test
    void cancelled_signalsNothing() {
        Flow.Subscription subscription = subscribe(0);
        subscription.request(1);

        subscription.cancel();
        subscription.request(1);
        subscription.request(0);

        assertThat(signals).containsExactly("next 1");
    }
}
