package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.io.StringWriter;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Wherever the prompt stands in its body, however it is written and however the body was cut, it is found whole. */
class RequestContentPropertyTest {

    @Provide
    Arbitrary<String> texts() {
        Arbitrary<String> words =
                Arbitraries.strings().all().ofMaxLength(40).filter(RequestContentPropertyTest::isUnicode);
        // The JSON reader's buffer holds 8,000 bytes: texts on both sides of its edge, and over several.
        Arbitrary<Integer> fillers = Arbitraries.oneOf(
                Arbitraries.integers().between(0, 20),
                Arbitraries.integers().between(7_900, 8_100),
                Arbitraries.integers().between(15_900, 16_100));
        return words.flatMap(word -> fillers.map(n -> "\u00e9".repeat(n / 2) + "x".repeat(n % 2) + word));
    }

    @Provide
    Arbitrary<String> space() {
        return Arbitraries.strings().withChars(" \t\n\r").ofMaxLength(5);
    }

    @Provide
    Arbitrary<Integer> lengths() {
        return Arbitraries.oneOf(
                Arbitraries.integers().between(0, 50), Arbitraries.integers().between(7_900, 8_100));
    }

    @Property
    void prompt_isFound(
            @ForAll("texts") String text,
            @ForAll("space") String space,
            @ForAll("lengths") int before,
            @ForAll("lengths") int after,
            @ForAll boolean asciiOnly,
            @ForAll @IntRange(max = 3) int shape,
            @ForAll @IntRange(min = 1, max = 9_000) int cut)
            throws IOException {
        String prompt = written(text, asciiOnly);
        String value = switch (shape) {
            case 0 -> prompt;
            case 1 -> "[" + space + prompt + space + "]";
            case 2 -> "[" + prompt + space + "," + space + "\"other\"]";
            default -> "[[" + prompt + "]" + space + "]";
        };
        String body = "{\"a\":\"" + "y".repeat(before) + "\"," + space + "\"prompt\"" + space + ":" + space + value
                + space + (after % 2 == 0 ? "" : "," + space + "\"b\":\"" + "z".repeat(after) + "\"") + space + "}";

        RequestContent content = RequestContentTest.read(inPieces(ByteString.copyFromUtf8(body), cut));

        assertThat(RequestContentTest.text(content)).isEqualTo(text);
    }

    private static ByteString inPieces(ByteString body, int size) {
        ByteString joined = ByteString.EMPTY;
        for (int at = 0; at < body.size(); at += size) {
            joined = joined.concat(body.substring(at, Math.min(at + size, body.size())));
        }
        return joined;
    }

    private static String written(String text, boolean asciiOnly) throws IOException {
        StringWriter json = new StringWriter();
        try (JsonGenerator out = JsonFactory.builder()
                .configure(JsonWriteFeature.ESCAPE_NON_ASCII, asciiOnly)
                .build()
                .createGenerator(json)) {
            out.writeString(text);
        }
        return json.toString();
    }

    private static boolean isUnicode(String text) {
        return text.codePoints()
                .noneMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }
}
