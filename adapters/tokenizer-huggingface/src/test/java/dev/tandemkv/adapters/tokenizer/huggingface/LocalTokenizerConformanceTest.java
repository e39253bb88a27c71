package dev.tandemkv.adapters.tokenizer.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.VirtualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Over a file as large as a real model's: 32,000 merges. What it answers is compared with an encoder that does the obvious. */
class LocalTokenizerConformanceTest {

    private static final GeneratedBpe BPE = GeneratedBpe.of(32_000, 42);

    @TempDir
    private static Path directory;

    private static Path file;
    private static final ExecutorService THREADS = Executors.newFixedThreadPool(4);
    private static final VirtualTime TIME = new VirtualTime();
    private static LocalTokenizer tokenizer;

    @BeforeAll
    static void load() throws IOException {
        file = Files.writeString(directory.resolve("tokenizer.json"), BPE.json());
        tokenizer = open(b -> b.completions(SpecialTokens.NONE));
    }

    private static LocalTokenizer open(UnaryOperator<LocalTokenizer.Builder> options) throws IOException {
        return options.apply(LocalTokenizer.builder(file, THREADS, TIME)).build();
    }

    @AfterAll
    static void close() {
        tokenizer.close();
        THREADS.shutdownNow();
    }

    private static CompletableFuture<TokenizedPrompt> ask(LocalTokenizer asked, String text) {
        return asked.tokenize(TokenizeRequest.Completion.of("m", text)).toCompletableFuture();
    }

    private static int[] ids(String text) {
        return ask(tokenizer, text).join().tokenIds();
    }

    private static void assertFailed(CompletableFuture<TokenizedPrompt> answer, Failure failure) {
        assertThatThrownBy(answer::join)
                .cause()
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(failure));
    }

    private static String text(Random random, int words) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < words; i++) {
            switch (random.nextInt(12)) {
                case 0 -> text.append(" don't we'll I'M");
                case 1 -> text.append("\ud83d\ude00\ud83d\udc69\u200d\ud83d\udc67");
                case 2 -> text.append("  \t\n\r\n ");
                case 3 -> text.append(" 3.14 1234567 x=\"y\\z\"; ");
                default -> text.append(GeneratedBpe.word(random));
            }
        }
        return text.toString();
    }

    private static void assertConforms(String text) {
        int[] ids = ids(text);
        int[] obvious = BPE.encode(text).stream().mapToInt(Integer::intValue).toArray();
        assertThat(Arrays.mismatch(ids, obvious)).as("where they differ").isEqualTo(-1);
        assertThat(BPE.decode(ids)).isEqualTo(text);
    }

    // ---- ids

    @Test
    void file_isOfARealSize() throws IOException {
        assertThat(BPE.size()).isGreaterThan(30_000);
        assertThat(Files.size(file)).isGreaterThan(1 << 20);
    }

    @Test
    void texts_giveTheIdsOfTheObviousEncoder_andComeBackWhole() {
        Random random = new Random(1);
        for (int i = 0; i < 300; i++) {
            assertConforms(text(random, random.nextInt(60)));
        }
    }

    @Test
    void everyToken_isReachedByItsOwnText_orByOthersThatSpellIt() {
        for (int id = 0; id < BPE.size(); id += 101) {
            String own = BPE.decode(new int[] {id});
            if (!own.contains("\ufffd")) {
                assertThat(BPE.decode(ids(own))).isEqualTo(own);
            }
        }
    }

    @Test
    void longPrompt_givesTheSameIds() {
        String long1 = text(new Random(2), 20_000);
        assertThat(long1.length()).isGreaterThan(150_000);

        assertConforms(long1);
    }

    @Test
    void oneWordWithoutEnd_isTokenizedAsFastAsAnother() {
        String word = "trilu".repeat(40_000);

        assertThat(BPE.decode(ids(word))).isEqualTo(word);
    }

    @Test
    void specialTokens_areAddedOrNot_andRecognizedInTheTextEitherWay() throws IOException {
        int begin = BPE.size();
        int end = begin + 1;
        try (LocalTokenizer adding = open(b -> b)) {
            int[] plain = ids(" ken mar");
            int[] added = ask(adding, " ken mar").join().tokenIds();

            assertThat(added).hasSize(plain.length + 2).startsWith(begin).endsWith(end);
            assertThat(Arrays.copyOfRange(added, 1, added.length - 1)).containsExactly(plain);
        }
        assertThat(ids(GeneratedBpe.BEGIN + " ken")).startsWith(begin).doesNotContain(end);
    }

    @Test
    void threadsAtOnce_getTheSameIds() {
        List<String> texts = new ArrayList<>();
        List<CompletableFuture<TokenizedPrompt>> answers = new ArrayList<>();
        Random random = new Random(3);
        for (int i = 0; i < 200; i++) {
            texts.add(text(random, 30));
            answers.add(ask(tokenizer, texts.get(i)));
        }

        for (int i = 0; i < texts.size(); i++) {
            assertThat(BPE.decode(answers.get(i).join().tokenIds())).isEqualTo(texts.get(i));
        }
    }

    // ---- limits

    @Test
    void promptAboveTheLimit_isRefused_atTheLimitIsNot() throws IOException {
        try (LocalTokenizer limited = open(b -> b.maxRequestBytes(100_000))) {
            assertFailed(ask(limited, "k".repeat(100_001)), Failure.INVALID_REQUEST);
            assertThat(ask(limited, "k".repeat(100_000)).join().tokenIds()).isNotEmpty();
        }
    }

    @Test
    void promptThatTakesTooLong_isATimeout_andItsRoomIsBackWhenItHasEnded() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch late = new CountDownLatch(1);
        ExecutorService one = Executors.newSingleThreadExecutor();
        try (LocalTokenizer slow = LocalTokenizer.builder(
                        file,
                        work -> one.execute(() -> {
                            running.countDown();
                            uninterruptibly(late);
                            work.run();
                        }),
                        TIME)
                .timeout(Duration.ofSeconds(2))
                .maxPrompts(1)
                .build()) {
            CompletableFuture<TokenizedPrompt> answer = ask(slow, " ken".repeat(10_000));
            running.await();
            TIME.advance(Duration.ofSeconds(2));
            assertFailed(answer, Failure.TIMEOUT);
            assertFailed(ask(slow, " mar"), Failure.UNAVAILABLE);

            late.countDown();
            one.submit(() -> {}).get();
            assertThat(BPE.decode(withoutSpecial(ask(slow, " mar").join().tokenIds())))
                    .isEqualTo(" mar");
        } finally {
            one.shutdownNow();
        }
    }

    private static int[] withoutSpecial(int[] ids) {
        return Arrays.copyOfRange(ids, 1, ids.length - 1);
    }

    private static void uninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void close_whilePromptsAreTokenized_failsThemTyped_andNothingCrashes() throws IOException {
        for (int round = 0; round < 5; round++) {
            List<CompletableFuture<TokenizedPrompt>> answers = new ArrayList<>();
            LocalTokenizer closing = open(b -> b);
            for (int i = 0; i < 8; i++) {
                answers.add(ask(closing, " ken".repeat(20_000)));
            }
            closing.close();
            for (CompletableFuture<TokenizedPrompt> answer : answers) {
                answer.handle((prompt, failure) -> {
                            assertThat(prompt != null || failure instanceof TokenizerException)
                                    .isTrue();
                            return prompt;
                        })
                        .join();
            }
        }
    }

    // ---- memory

    @Test
    void memoryOutsideTheHeap_doesNotGrowWithThePromptsThatPassed() throws IOException {
        Path status = Path.of("/proc/self/status");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(status), "no /proc here");
        String prompt = text(new Random(4), 3_000);
        for (int i = 0; i < 8; i++) {
            ids(prompt);
        }
        long least = Long.MAX_VALUE;
        for (int batch = 0; batch < 5; batch++) {
            long before = outsideTheHeap(status);
            for (int i = 0; i < 8; i++) {
                ids(prompt);
            }
            least = Math.min(least, outsideTheHeap(status) - before);
        }

        // An encoding of this prompt takes more than a megabyte, so if they stayed every batch would add eight. Memory
        // of the heap that is touched for the first time, a compiler's or a thread's adds to one batch and not to all.
        assertThat(least).isLessThan(4L << 20);
    }

    private static long outsideTheHeap(Path status) throws IOException {
        try (Stream<String> lines = Files.lines(status)) {
            long resident = lines.filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                    .findFirst()
                    .orElseThrow();
            return resident - Runtime.getRuntime().totalMemory();
        }
    }

    // ---- files

    @ParameterizedTest
    @CsvSource({"0.5", "0.999", "0.01", "0"})
    void fileThatIsCutOff_isRefused_andNamed(double share) throws IOException {
        String whole = BPE.json();
        Path cut = Files.writeString(directory.resolve("cut.json"), whole.substring(0, (int) (share * whole.length())));

        assertRefused(cut);
    }

    static Stream<UnaryOperator<String>> damages() {
        return Stream.of(
                json -> json.replace("\"type\":\"BPE\"", "\"type\":\"Other\""),
                json -> json.replaceFirst("\"merges\":\\[", "\"merges\":[\"nosuch token\","),
                json -> json.replaceFirst("\"merges\":\\[", "\"merges\":[17,"),
                json -> json.replace("\"ByteLevel\"", "\"NoSuchLevel\""),
                json -> "[" + json + "]",
                json -> "\u0000\u0001\u0002");
    }

    @ParameterizedTest
    @MethodSource("damages")
    void fileThatIsDamaged_isRefused_andNamed(UnaryOperator<String> damage) throws IOException {
        String whole = BPE.json();
        String damaged = damage.apply(whole);
        assertThat(damaged).isNotEqualTo(whole);

        assertRefused(Files.writeString(directory.resolve("damaged.json"), damaged, StandardCharsets.UTF_8));
    }

    private static void assertRefused(Path wrong) {
        assertThatThrownBy(() -> LocalTokenizer.builder(wrong, THREADS, TIME).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("file: " + wrong + " (expected: a tokenizer.json)");
    }
}
