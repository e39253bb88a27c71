package dev.tandemkv.adapters.tokenizer.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.VirtualTime;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Over the native library; {@code words.json} cuts and fills batches, as published files do. */
class LocalTokenizerTest {

    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final List<LocalTokenizer> opened = new ArrayList<>();

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void copyWords() throws IOException {
        file = directory.resolve("tokenizer.json");
        copy("/words.json");
    }

    private void copy(String resource) throws IOException {
        try (InputStream content = Objects.requireNonNull(getClass().getResourceAsStream(resource))) {
            Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @AfterEach
    void stop() {
        opened.forEach(LocalTokenizer::close);
        threads.shutdownNow();
    }

    private LocalTokenizer tokenizer(UnaryOperator<LocalTokenizer.Builder> options) throws IOException {
        LocalTokenizer tokenizer = options.apply(LocalTokenizer.builder(file, threads, new VirtualTime()))
                .build();
        opened.add(tokenizer);
        return tokenizer;
    }

    private static TokenizeRequest completion(String text) {
        return TokenizeRequest.Completion.of("any", text);
    }

    /** As a client writes it in its JSON. */
    private static TokenizeRequest written(String json) {
        return new TokenizeRequest.Completion("any", List.of(ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8))));
    }

    private static TokenizeRequest chat(String... pieces) {
        List<ByteBuffer> body = new ArrayList<>();
        for (String piece : pieces) {
            body.add(ByteBuffer.wrap(piece.getBytes(StandardCharsets.UTF_8)));
        }
        return new TokenizeRequest.Chat("any", body);
    }

    private static TokenizedPrompt await(LocalTokenizer tokenizer, TokenizeRequest request) {
        return tokenizer.tokenize(request).toCompletableFuture().join();
    }

    private static void assertFails(LocalTokenizer tokenizer, TokenizeRequest request, Failure failure, String told) {
        assertThatThrownBy(() -> await(tokenizer, request))
                .isInstanceOf(CompletionException.class)
                .cause()
                .hasMessageContaining(told)
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(failure))
                .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("secretword"));
    }

    @Test
    void completion_isWhole_withTheSpecialTokensOfTheFile() throws IOException {
        LocalTokenizer tokenizer = tokenizer(b -> b);

        assertThat(await(tokenizer, completion("the cat sat the cat")).tokenIds())
                .containsExactly(0, 2, 3, 4, 2, 3);
        assertThat(await(tokenizer, completion("big dog")).tokenIds()).containsExactly(0, 70000, 5);
        assertThat(await(tokenizer, completion("")).tokenIds()).containsExactly(0);
    }

    @Test
    void completion_withoutSpecialTokens_stillKnowsThoseWrittenOut() throws IOException {
        LocalTokenizer tokenizer = tokenizer(b -> b.completions(SpecialTokens.NONE));

        assertThat(await(tokenizer, completion("the </s>cat")).tokenIds()).containsExactly(2, 1, 3);
        assertThat(await(tokenizer, completion("")).tokenIds()).isEmpty();
    }

    @Test
    void completion_ofAnyUnicode_reachesTheLibraryUnchanged() throws IOException {
        LocalTokenizer tokenizer = tokenizer(b -> b);

        assertThat(await(tokenizer, completion("\u00e9t\u00e9 \ud83d\ude00 the\0 cat"))
                        .tokenIds())
                .containsExactly(0, 6, 7, 5, 3);
        for (String half : List.of("\\ud83d", "\\ude00\\ud83d the", "secretword \\ud83d")) {
            assertFails(tokenizer, written(half), Failure.INVALID_REQUEST, "half a surrogate pair");
        }
    }

    @Test
    void completion_ofAByteLevelFile_keepsSpaces_andSplitsUnknownCharactersIntoBytes() throws IOException {
        copy("/bytes.json");
        LocalTokenizer tokenizer = tokenizer(b -> b);

        assertThat(await(tokenizer, completion("the the")).tokenIds()).containsExactly(7, 8);
        assertThat(await(tokenizer, completion("he  the")).tokenIds()).containsExactly(1, 2, 3, 8);
        assertThat(await(tokenizer, completion("t\u00e9")).tokenIds()).containsExactly(0, 4, 5);
    }

    @Test
    void chat_withoutATemplate_isRefused_andSaysSo() throws IOException {
        assertFails(tokenizer(b -> b), chat("{}"), Failure.INVALID_REQUEST, "no chat template is configured");
    }

    @Test
    void chat_isRendered_andGetsNoSpecialTokensOnTop_unlessSet() throws IOException {
        ChatTemplate template = chat -> "<s>the cat";

        assertThat(await(tokenizer(b -> b.chatTemplate(template)), chat("{}")).tokenIds())
                .containsExactly(0, 2, 3);
        assertThat(await(tokenizer(b -> b.chatTemplate(template).chats(SpecialTokens.ADDED)), chat("{}"))
                        .tokenIds())
                .containsExactly(0, 0, 2, 3);
    }

    @Test
    void chat_withMedia_isToldApart() throws IOException {
        LocalTokenizer tokenizer = tokenizer(b -> b.chatTemplate(chat -> "the"));

        TokenizedPrompt a = await(tokenizer, chat("{\"image_url\":{\"url\":", "\"a\"}}"));
        TokenizedPrompt b = await(tokenizer, chat("{\"image_url\":{\"url\":\"b\"}}"));

        assertThat(a.multimodal()).hasSize(1);
        assertThat(a.multimodal().get(0)).isNotEqualTo(b.multimodal().get(0));
        assertThat(await(tokenizer, chat("{\"image\":7}")).multimodal()).isEmpty();
        assertFails(tokenizer, chat("{secretword"), Failure.INVALID_REQUEST, "body");
    }

    @Test
    void template_mayRefuse_andItsOtherFailuresAreNotQuoted() throws IOException {
        TokenizerException refusal = new TokenizerException(Failure.INVALID_REQUEST, "messages: none", null);

        assertFails(
                tokenizer(b -> b.chatTemplate(chat -> {
                    throw refusal;
                })),
                chat("{}"),
                Failure.INVALID_REQUEST,
                "messages: none");
        assertFails(
                tokenizer(b -> b.chatTemplate(chat -> {
                    throw new IllegalStateException("secretword");
                })),
                chat("{}"),
                Failure.UPSTREAM,
                "IllegalStateException");
    }

    @Test
    void promptAboveTheLimit_isRefused_renderedOrNot() throws IOException {
        LocalTokenizer tokenizer = tokenizer(b -> b.maxRequestBytes(7).chatTemplate(chat -> "the cat "));

        assertThat(await(tokenizer, completion("the cat")).tokenIds()).hasSize(3);
        assertFails(tokenizer, completion("the cat "), Failure.INVALID_REQUEST, "8 bytes (expected: <= 7)");
        assertFails(tokenizer, chat("{}"), Failure.INVALID_REQUEST, "8 characters (expected: <= 7)");
    }

    @Test
    void textTheModelRefuses_isAFailureOfTheTokenizer() throws IOException {
        Files.writeString(file, Files.readString(file).replace("\"unk_token\": \"?\"", "\"unk_token\": \"absent\""));
        LocalTokenizer tokenizer = tokenizer(b -> b);

        assertFails(tokenizer, completion("secretword"), Failure.UPSTREAM, "RuntimeException");
        assertThat(await(tokenizer, completion("cat")).tokenIds()).containsExactly(0, 3);
    }

    @Test
    void file_thatIsAbsentOrAnother_isNamed() throws IOException {
        Files.writeString(file, "{}");
        assertThatThrownBy(() -> tokenizer(b -> b))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tokenizer.json (expected: a tokenizer.json)");

        Files.delete(file);
        assertThatThrownBy(() -> tokenizer(b -> b)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void manyAtOnce_eachGetsItsOwn_andCloseInBetweenIsTypedForTheRest() throws IOException {
        for (int round = 0; round < 20; round++) {
            LocalTokenizer tokenizer = tokenizer(b -> b);
            List<CompletableFuture<TokenizedPrompt>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                answers.add(
                        tokenizer.tokenize(completion("the ".repeat(i) + "cat")).toCompletableFuture());
                if (i == 150 && round > 0) {
                    tokenizer.close();
                }
            }
            for (int i = 0; i < 200; i++) {
                CompletableFuture<TokenizedPrompt> answer = answers.get(i);
                try {
                    int[] ids = answer.join().tokenIds();
                    assertThat(ids).hasSize(i + 2).endsWith(3);
                } catch (CompletionException e) {
                    assertThat(round).isPositive();
                    assertThat(e)
                            .cause()
                            .isInstanceOfSatisfying(
                                    TokenizerException.class,
                                    t -> assertThat(t.failure()).isEqualTo(Failure.UNAVAILABLE));
                }
            }
        }
    }
}
