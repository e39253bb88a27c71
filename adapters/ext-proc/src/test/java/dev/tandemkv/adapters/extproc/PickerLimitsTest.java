package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What requests may hold of the picker, and that they give it back on every way out. */
class PickerLimitsTest {

    private static final Map<String, String> POST = Map.of(":method", "POST", ":path", "/v1/completions");
    private static final Metadata NOTHING = Metadata.getDefaultInstance();
    private static final String COMPLETION = "{\"prompt\":\"" + "a".repeat(64) + "\"}";
    private static final PickerSettings SMALL = PickerSettings.builder()
            .maxBodyBytes(100)
            .maxBufferedBytes(150)
            .bodyTimeout(Duration.ofSeconds(7))
            .build();

    private Fixture fixture = Fixture.aggregated(SMALL);

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        assertThat(fixture.picker.bufferedBytes()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
        assertThat(fixture.picker.exchanges()).isZero();
        assertThat(Fixture.bookings(fixture.decode)).isZero();
    }

    private static int status(Proxy proxy) {
        return proxy.answers.get(0).getImmediateResponse().getStatus().getCodeValue();
    }

    private static byte[] half(String body) {
        return body.substring(0, body.length() / 2).getBytes(StandardCharsets.UTF_8);
    }

    /** A request of which 76 bytes are held and nothing is decided. */
    private Proxy waiting() {
        fixture.tokenizing = new CompletableFuture<>();
        return fixture.open().headers(POST).body(COMPLETION);
    }

    // ---- bytes

    @Test
    void bytesOfAllBodies_aboveTheLimit_areShedWith429_andCounted_andRoomAgainServesTheNext() {
        Proxy first = waiting();
        assertThat(fixture.picker.bufferedBytes()).isEqualTo(COMPLETION.length());

        Proxy second = fixture.open().headers(POST).body(COMPLETION);
        assertThat(status(second)).isEqualTo(429);
        assertThat(second.answers.get(0).getImmediateResponse().getBody().toStringUtf8())
                .contains("OVERLOADED", "150");
        assertThat(second.answers.get(0).getImmediateResponse().getHeaders().getSetHeadersList())
                .anyMatch(option -> option.getHeader().getKey().equals("retry-after"));
        assertThat(fixture.told).containsExactly("limit BUFFERED_BYTES", "refused 429", "ended");
        assertThat(fixture.picker.bufferedBytes()).isEqualTo(COMPLETION.length());

        first.reset();
        fixture.tokenizing = null;
        Proxy third = fixture.open().headers(POST).body(COMPLETION);
        assertThat(third.destination()).isNotEmpty();
        third.halfClose();
    }

    @Test
    void requestsInFlight_aboveTheirLimit_areCountedApart() {
        fixture.close();
        fixture = Fixture.aggregated(PickerSettings.builder().maxInFlight(1).build());
        Proxy first = fixture.open().headers(POST);

        assertThat(status(fixture.open().headers(POST))).isEqualTo(429);

        assertThat(fixture.told).containsExactly("limit IN_FLIGHT", "refused 429", "ended");
        first.reset();
    }

    @Test
    void limitOfAllBodies_belowThatOfOne_isRefused() {
        PickerSettings.Builder settings =
                PickerSettings.builder().maxBodyBytes(100).maxBufferedBytes(99);

        assertThatThrownBy(settings::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxBufferedBytes: 99 (expected: >= maxBodyBytes, which is 100)");
    }

    enum Way {
        RESET,
        HALF_CLOSE,
        PICKER_CLOSES,
        PROXY_ANSWERS_BY_ITSELF,
        PROXY_ANSWERS_WITHOUT_HEADERS,
        PROXY_SENDS_NONSENSE
    }

    private void leave(Proxy proxy, Way way) {
        switch (way) {
            case RESET -> proxy.reset();
            case HALF_CLOSE -> proxy.halfClose();
            case PICKER_CLOSES -> fixture.picker.close();
            case PROXY_ANSWERS_BY_ITSELF -> proxy.answerHeaders(NOTHING);
            case PROXY_ANSWERS_WITHOUT_HEADERS -> proxy.answerBody("timeout", true);
            case PROXY_SENDS_NONSENSE -> proxy.headers(POST);
        }
    }

    private void everythingIsBack() {
        assertThat(fixture.picker.bufferedBytes()).isZero();
        assertThat(fixture.picker.inFlight()).isZero();
        assertThat(Fixture.bookings(fixture.decode)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void wayOut_whileTheBodyComes_givesEverythingBack(Way way) {
        Proxy proxy = fixture.open().headers(POST).chunk(half(COMPLETION), false);
        assertThat(fixture.picker.bufferedBytes()).isPositive();

        leave(proxy, way);

        everythingIsBack();
        fixture.time.advance(Duration.ofSeconds(60));
        assertThat(proxy.answers).noneMatch(answer -> answer.hasImmediateResponse());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void wayOut_whilePicking_givesEverythingBack_alsoWhenTheTokensCome(Way way) {
        Proxy proxy = waiting();
        CompletableFuture<TokenizedPrompt> tokens = java.util.Objects.requireNonNull(fixture.tokenizing);

        leave(proxy, way);

        everythingIsBack();
        assertThat(tokens).isCancelled();
    }

    @Test
    void refusals_giveTheirBytesBack() {
        fixture.open().headers(POST).body("not json");
        fixture.open().headers(POST).chunk(new byte[60], false).chunk(new byte[60], false);
        fixture.tokenizing =
                CompletableFuture.failedFuture(new TokenizerException(TokenizerException.Failure.UPSTREAM, "no", null));
        fixture.open().headers(POST).body(COMPLETION);

        assertThat(fixture.told).contains("refused 400", "refused 413", "refused 502");
        everythingIsBack();
    }

    @Test
    void bodiesThatComeAtOnce_neverExceedTheLimit() throws Exception {
        int threads = 4;
        int each = 400;
        BodyRoom room = new BodyRoom(1_000);
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Thread> running = new ArrayList<>();
        List<Throwable> wrong = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < threads; t++) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    for (int i = 0; i < 20_000; i++) {
                        if (room.take(each)) {
                            assertThat(room.held()).isBetween(400L, 800L);
                            room.give(each);
                        }
                    }
                } catch (Throwable e) {
                    wrong.add(e);
                }
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }

        assertThat(wrong).isEmpty();
        assertThat(room.held()).isZero();
    }

    // ---- a proxy that does not take its body back

    @Test
    void bodyThatTheProxyDoesNotTakeBack_staysCounted_untilItDoes() {
        fixture.close();
        fixture = Fixture.aggregated(PickerSettings.DEFAULT);
        String body = "{\"prompt\":\"" + "b".repeat(300_000) + "\"}";
        Proxy proxy = fixture.open(Proxy.stalled()).headers(POST).body(body);

        assertThat(proxy.answers).hasSize(1);
        long held = fixture.picker.bufferedBytes();
        assertThat(held).isGreaterThan(200_000);
        proxy.take(1);
        assertThat(fixture.picker.bufferedBytes()).isEqualTo(held - 62_000);

        proxy.take(10);
        assertThat(fixture.picker.bufferedBytes()).isZero();
        assertThat(proxy.returnedBody().toStringUtf8()).isEqualTo(body);
        proxy.halfClose();
    }

    @Test
    void proxyThatLeaves_withItsBodyUntaken_leavesNothing() {
        fixture.close();
        fixture = Fixture.aggregated(PickerSettings.DEFAULT);
        Proxy proxy = fixture.open(Proxy.stalled()).headers(POST).body("{\"prompt\":\"" + "b".repeat(300_000) + "\"}");
        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);

        proxy.reset();

        everythingIsBack();
    }

    // ---- time

    @Test
    void bodyThatIsTooSlow_is408_andGivesEverythingBack() {
        Proxy proxy = fixture.open().headers(POST).chunk(half(COMPLETION), false);
        fixture.time.advance(Duration.ofMillis(6_999));
        assertThat(proxy.answers).isEmpty();

        fixture.time.advance(Duration.ofMillis(1));

        assertThat(status(proxy)).isEqualTo(408);
        everythingIsBack();
    }

    @Test
    void timeOfTheBody_doesNotCountOnceItIsComplete() {
        Proxy proxy = fixture.open().headers(POST).body(COMPLETION);

        fixture.time.advance(Duration.ofSeconds(20));

        assertThat(proxy.ended).isNull();
        assertThat(Fixture.bookings(fixture.decode)).isEqualTo(1);
        proxy.halfClose();
    }

    // ---- one byte at a time

    @Test
    void bodyInChunksOfOneByte_isRoutedAndReturnedWhole() {
        fixture.close();
        fixture = Fixture.aggregated(PickerSettings.DEFAULT);
        String text = "caf\u00e9 \ud83d\ude00 \\u00e9\\\"" + "x".repeat(20_000);
        byte[] body = ("{\"prompt\" : \"" + text + "\" , \"n\":1}").getBytes(StandardCharsets.UTF_8);
        Proxy proxy = fixture.open().headers(POST);
        IntStream.range(0, body.length).forEach(i -> proxy.chunk(new byte[] {body[i]}, i == body.length - 1));

        assertThat(proxy.returnedBody().toByteArray()).isEqualTo(body);
        assertThat(fixture.tokenized)
                .singleElement()
                .isInstanceOfSatisfying(
                        dev.tandemkv.adapters.tokenizer.TokenizeRequest.Completion.class,
                        prompt -> assertThat(prompt.text())
                                .isEqualTo("caf\u00e9 \ud83d\ude00 \u00e9\"" + "x".repeat(20_000)));
        proxy.halfClose();
    }
}
