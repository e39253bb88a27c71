package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NaiveCatalog;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchedFileSourceTest {

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime();
    private final List<SourceException> problems = new ArrayList<>();
    private Path file;
    private WatchedFileSource source;

    @BeforeEach
    void open() {
        file = directory.resolve("workers.json");
        source = WatchedFileSource.builder(file, time)
                .period(Duration.ofSeconds(2))
                .observer(problems::add)
                .build();
    }

    private void write(String text) throws Exception {
        Files.writeString(file, text);
    }

    private static String json(int... ids) {
        StringBuilder text = new StringBuilder("{\"workers\":[");
        for (int i = 0; i < ids.length; i++) {
            text.append(i == 0 ? "" : ",")
                    .append("{\"worker_id\":")
                    .append(ids[i])
                    .append(",\"endpoint\":\"h:80\",\"block_size\":16}");
        }
        return text.append("]}").toString();
    }

    private static List<Long> ids(CompletionStage<Optional<CatalogSnapshot>> stage) {
        Optional<CatalogSnapshot> snapshot = stage.toCompletableFuture().getNow(null);
        return snapshot == null
                ? null
                : snapshot.orElseThrow().workers().stream()
                        .map(WorkerSpec::workerId)
                        .toList();
    }

    private void tick() {
        time.advance(Duration.ofSeconds(2));
    }

    @Test
    void nextSnapshot_first_isTheFileAsItIs() throws Exception {
        write(json(1, 2));
        assertThat(ids(source.nextSnapshot())).containsExactly(1L, 2L);
        assertThat(time.pending()).isZero();
    }

    @Test
    void nextSnapshot_noFileYet_failsAndLaterAnswers() throws Exception {
        assertThatThrownBy(() -> source.nextSnapshot().toCompletableFuture().getNow(null))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(SourceException.class)
                .hasMessageContaining("no such file");
        write(json(1));
        assertThat(ids(source.nextSnapshot())).containsExactly(1L);
    }

    @Test
    void file_replacedAtomically_isSeenAtTheNextLook() throws Exception {
        write(json(1));
        source.nextSnapshot();
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        Path other = directory.resolve("workers.json.new");
        Files.writeString(other, json(2));
        Files.move(other, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        assertThat(ids(next)).isNull();
        tick();
        assertThat(ids(next)).containsExactly(2L);
    }

    @Test
    void file_rewrittenWithoutAChange_isNoNews() throws Exception {
        write(json(1, 2));
        source.nextSnapshot();
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        write(json(2, 1) + "\n");
        tick();
        assertThat(ids(next)).isNull();
    }

    /** Every prefix of a file is either refused or the whole file: a half-written one never loses workers. */
    @Test
    void file_halfWrittenAtEveryByte_keepsTheLastGoodState() throws Exception {
        write(json(1));
        source.nextSnapshot();
        String whole = json(1, 2, 3);
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        for (int length = 0; length < whole.length(); length++) {
            write(whole.substring(0, length));
            tick();
            assertThat(ids(next)).isNull();
        }
        assertThat(problems).isNotEmpty();
        write(whole);
        tick();
        assertThat(ids(next)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void file_withASyntaxError_isReportedOnceWithItsPlace() throws Exception {
        write(json(1));
        source.nextSnapshot();
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        write("{\"workers\":[\n{\"worker_id\":}]}");
        tick();
        tick();
        tick();
        assertThat(problems).hasSize(1);
        assertThat(problems.get(0)).hasMessageContaining("line 2").hasMessageContaining("workers.json");

        write("{\"workers\":[{\"worker_id\":1,\"total_kv_blocks\":0}]}");
        tick();
        assertThat(problems).hasSize(2);
        assertThat(problems.get(1)).hasMessageContaining("workers[0].total_kv_blocks");
        assertThat(ids(next)).isNull();
    }

    @Test
    void file_deleted_keepsTheLastGoodState() throws Exception {
        write(json(1));
        source.nextSnapshot();
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        Files.delete(file);
        tick();
        assertThat(ids(next)).isNull();
        assertThat(problems).hasSize(1);
        write(json(2));
        tick();
        assertThat(ids(next)).containsExactly(2L);
    }

    @Test
    void reconciler_onAFile_followsIt() throws Exception {
        NaiveCatalog catalog = new NaiveCatalog();
        CatalogReconciler reconciler =
                CatalogReconciler.builder(catalog, source, time).build();
        reconciler.start();
        assertThat(catalog.ids()).isEmpty();
        write(json(1, 2));
        time.advance(Duration.ofSeconds(1));
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L);
        write(json(1, 1));
        tick();
        assertThat(catalog.ids()).as("duplicate ids").hasSize(2);
        write("{\"work");
        tick();
        write(json(2, 3));
        tick();
        assertThat(catalog.ids()).containsExactlyInAnyOrder(2L, 3L);
        source.close();
        assertThat(catalog.ids()).isEmpty();
        assertThat(time.pending()).isZero();
    }

    @Test
    void builder_badPeriod_isRefused() {
        assertThatThrownBy(() -> WatchedFileSource.builder(file, time).period(Duration.ofNanos(-1)))
                .isInstanceOf(BadRequestException.class);
    }
}
