package dev.tandemkv.adapters.http.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Scenario 68: every recorded conversation with the peer's selection service, against a fresh service of ours. The folder is
 * {@code corpus/http} of the shared data, or another one by {@code -Dtandemkv.http=DIR}.
 */
class ConversationReplayTest {

    private static Vertx vertx;

    @TempDir
    private Path files;

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @TestFactory
    Stream<DynamicTest> s68_everyConversation_isAnsweredAsRecorded() throws IOException {
        List<Conversation> conversations = conversations();
        assertThat(conversations).isNotEmpty();
        return conversations.stream()
                .map(conversation -> DynamicTest.dynamicTest(conversation.name(), () -> replay(conversation)));
    }

    private static List<Conversation> conversations() throws IOException {
        Path folder = folder();
        assumeTrue(Files.isDirectory(folder), () -> "no recorded conversations at " + folder);
        try (Stream<Path> found = Files.list(folder)) {
            return found.filter(file -> file.toString().matches(".*\\.jsonl(\\.gz)?"))
                    .sorted()
                    .map(Conversation::read)
                    .filter(conversation -> conversation.service().equals("select_service"))
                    .filter(conversation -> conversation.name().matches(System.getProperty("tandemkv.http.only", ".*")))
                    .toList();
        }
    }

    static Path folder() {
        String named = System.getProperty("tandemkv.http");
        return named == null ? shared().resolve("corpus/http") : Path.of(named);
    }

    static Path shared() {
        return Path.of(System.getProperty("tandemkv.shared", "../shared"));
    }

    private void replay(Conversation conversation) throws IOException {
        Path wire = shared().resolve("wire");
        try (ReplayedService service = new ReplayedService(vertx, conversation, files, wire);
                Replay replay = new Replay(service, wire)) {
            assertThat(replay.play(conversation)).isEmpty();
        }
    }
}
