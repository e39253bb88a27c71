package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.time.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The membership in a JSON file, looked at again and again. The file is one object with the one field {@code workers}, a list of
 * objects with the field names of the wire ({@code worker_id}, {@code endpoint}, {@code block_size} ...).
 *
 * <p>A file that is missing, half-written or wrong changes nothing: the last good state stands, and the problem is reported once. Best
 * written under another name and moved into place, but a writer that is caught half-way does no harm. The file is read on the
 * scheduler's thread, and by the caller of the first question.
 */
public final class WatchedFileSource implements WorkerCatalogSource {

    private static final long MAX_BYTES = 64L << 20;

    private final Path file;
    private final Polling polling;

    private WatchedFileSource(Builder builder) {
        file = builder.file;
        polling = new Polling(
                file.toString(), builder.scheduler, builder.period, new Reader(file)::read, builder.observer);
    }

    public static Builder builder(Path file, Scheduler scheduler) {
        return new Builder(file, scheduler);
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        return polling.nextSnapshot();
    }

    @Override
    public void close() {
        polling.close();
    }

    /** Parses only what has changed: an unchanged file costs one read. Looks come one at a time. */
    private static final class Reader {
        private final Path file;
        private byte @Nullable [] lastBytes;
        private @Nullable CatalogSnapshot lastSnapshot;

        Reader(Path file) {
            this.file = file;
        }

        synchronized CompletionStage<CatalogSnapshot> read() {
            byte[] bytes = bytes();
            CatalogSnapshot snapshot = lastSnapshot;
            if (snapshot == null || !Arrays.equals(bytes, lastBytes)) {
                snapshot = parse(bytes);
                lastSnapshot = snapshot;
                lastBytes = bytes;
            }
            return CompletableFuture.completedStage(snapshot);
        }

        private byte[] bytes() {
            try {
                long size = Files.size(file);
                if (size > MAX_BYTES) {
                    throw new SourceException(
                            file.toString(), size + " bytes (expected: at most " + MAX_BYTES + ")", null);
                }
                return Files.readAllBytes(file);
            } catch (NoSuchFileException e) {
                throw new SourceException(file.toString(), "there is no such file", e);
            } catch (IOException e) {
                throw new SourceException(file.toString(), e.toString(), e);
            }
        }

        private CatalogSnapshot parse(byte[] bytes) {
            try {
                return new CatalogSnapshot(WorkersJson.read(bytes));
            } catch (IOException | BadRequestException e) {
                throw new SourceException(file.toString(), String.valueOf(e.getMessage()), e);
            }
        }
    }

    /** Collects what the source needs; not thread-safe. */
    public static final class Builder {
        private final Path file;
        private final Scheduler scheduler;
        private Duration period = Duration.ofSeconds(2);
        private SourceObserver observer = problem -> {};

        private Builder(Path file, Scheduler scheduler) {
            this.file = Objects.requireNonNull(file, "file");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /**
         * How often the file is looked at; default 2 s.
         *
         * @throws BadRequestException unless above 0
         */
        public Builder period(Duration period) {
            this.period = Periods.requirePositive("period", period);
            return this;
        }

        /** Default: problems are only logged. */
        public Builder observer(SourceObserver observer) {
            this.observer = observer;
            return this;
        }

        public WatchedFileSource build() {
            return new WatchedFileSource(this);
        }
    }
}
