package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.google.protobuf.ByteString;
import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestContentTest {

    static RequestContent read(ByteString body) {
        return RequestContent.of(body, new JsonFactory());
    }

    private static RequestContent read(String body) {
        return read(ByteString.copyFromUtf8(body));
    }

    static String text(RequestContent content) {
        return ((TokenizeRequest.Completion) java.util.Objects.requireNonNull(content.prompt())).text();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "{\"prompt\":\"one\"}, one",
                "{\"prompt\":\"\"}, ``",
                "{ \"prompt\" : \"one\" }, one",
                "{\"prompt\":\"one\"\t\t}, one",
                "`{\"prompt\":\"one\",\"n\":1}`, one",
                "`{\"prompt\":\"one\" ,  \"user\":\"two\"}`, one",
                "`{\"user\":\"two\",\"prompt\":\"one\"}`, one",
                "{\"prompt\":[\"one\"]}, one",
                "`{\"prompt\":[\"one\",\"two\"]}`, one",
                "`{\"prompt\":[ \"one\" , [1,2] ]}`, one",
                "{\"prompt\":[[\"one\"]]}, one",
                "`{\"prompt\":\"two\",\"prompt\":\"one\"}`, one",
                "`{\"prompt\":[1,2],\"prompt\":\"one\"}`, one",
                "{\"input\":\"one\"}, one",
                "`{\"prompt\":\"say \\\"one\\\" \\\\\"}`, `say \"one\" \\`",
            })
    void prompt_isWhatStandsBetweenItsQuotes(String body, String prompt) {
        assertThat(text(read(body))).isEqualTo(prompt);
    }

    @Test
    void prompt_saidTwice_theLastOneCounts_alsoAsTokenIds() {
        RequestContent content = read("{\"prompt\":\"one\",\"prompt\":[7]}");

        assertThat(content.prompt()).isNull();
        assertThat(content.tokenIds()).containsExactly(7);
    }

    @Test
    void prompt_isTheBodysOwnBytes() {
        ByteString body = ByteString.copyFromUtf8("{\"prompt\":\"" + "x".repeat(20_000) + "\"}");

        TokenizeRequest.Completion prompt = (TokenizeRequest.Completion)
                java.util.Objects.requireNonNull(read(body).prompt());

        assertThat(prompt.bytes()).isEqualTo(20_000);
        // A view of the whole: the first of its bytes lies where the body has it.
        assertThat(prompt.json()).singleElement().matches(piece -> piece.isReadOnly() && !piece.hasArray());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"prompt\":\"secretword",
                "{\"prompt\":\"secretword\"",
                "{\"prompt\":\"secretword\\\"}",
                "{\"prompt\":\"secretword\\q\"}",
                "{\"prompt\":\"secretword\n\"}",
                "{\"prompt\":\"secretword\",}",
                "{\"prompt\":[\"secretword\"}",
                "{\"prompt\":[\"secretword\"]]}",
                "{\"prompt\":[secretword]}",
                "{\"prompt\":secretword}",
                "{\"secretword\":1}",
                "{\"prompt\":\"one\"} secretword",
                "{\"prompt\":\"one\",\"prompt\":null,\"secretword\":2}",
            })
    void unusableBody_isRefused_withoutQuotingIt(String body) {
        assertThatThrownBy(() -> read(body))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status()).isEqualTo(400))
                .satisfies(
                        refusal -> assertThat(Throwables.getStackTrace(refusal)).doesNotContain("secretword"));
    }

    @Test
    void bytesThatAreNoUtf8_inThePrompt_areRefused() {
        byte[] body = "{\"prompt\":\"a?b\"}".getBytes(StandardCharsets.US_ASCII);
        body[12] = (byte) 0xC3;

        assertThatThrownBy(() -> read(ByteString.copyFrom(body)))
                .isInstanceOf(Refusal.class)
                .hasMessageStartingWith("body: not acceptable JSON");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16BE", "UTF-16LE", "UTF-32BE"})
    void otherEncodings_areRefused(String charset) {
        ByteString body = ByteString.copyFrom("{\"prompt\":\"one\"}", Charset.forName(charset));

        assertThatThrownBy(() -> read(body)).isInstanceOf(Refusal.class).hasMessage("body: not UTF-8");
    }

    @Test
    void byteOrderMark_isPassedOver() {
        assertThat(text(read("\ufeff{\"prompt\":\"one\",\"n\":2}"))).isEqualTo("one");
    }
}
