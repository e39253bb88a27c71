package dev.tandemkv.adapters.http.internal.client;

import dev.tandemkv.adapters.http.internal.wire.JsonText;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.Selection;
import io.vertx.core.http.HttpMethod;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a booking that a service keeps. Thread-safe. It is released by one call at a time: whoever releases it meanwhile waits for
 * the same answer, and once it is released every further release finds it gone without asking. A release that failed may be tried again.
 */
public final class RemoteBooking implements Booking {

    /** Calls the service without waiting for a free place in its queue. */
    @FunctionalInterface
    public interface Line {
        CompletableFuture<Calls.Reply> send(HttpMethod method, String path, byte @Nullable [] json);
    }

    private final BookingId id;
    private final Selection selection;
    private final Line line;
    private final AtomicReference<@Nullable CompletableFuture<FreeOutcome>> releasing = new AtomicReference<>();
    private final CompletableFuture<FreeOutcome> released = new CompletableFuture<>();

    public RemoteBooking(BookingId id, Selection selection, Line line) {
        this.id = id;
        this.selection = selection;
        this.line = line;
    }

    @Override
    public BookingId id() {
        return id;
    }

    @Override
    public Selection selection() {
        return selection;
    }

    @Override
    public void prefillComplete() {
        progress(id.selectionId(), "prefill_complete", null, line);
    }

    @Override
    public void addOutputBlocks(int blocks) {
        addOutputBlocks(blocks, JsonText.of(json -> {
            json.writeStartObject();
            json.writeEndObject();
        }));
    }

    @Override
    public void addOutputBlocks(int blocks, double remainingFraction) {
        addOutputBlocks(blocks, JsonText.of(json -> {
            json.writeStartObject();
            json.writeNumberField("decay_fraction", remainingFraction);
            json.writeEndObject();
        }));
    }

    /** The wire adds one block a call. */
    private void addOutputBlocks(int blocks, byte[] json) {
        if (blocks < 1) {
            throw new IllegalArgumentException("blocks: " + blocks + " (expected: >= 1)");
        }
        for (int i = 0; i < blocks; i++) {
            progress(id.selectionId(), "output_block", json, line);
        }
    }

    /** Completes once the service has confirmed that the booking is over. */
    public CompletionStage<FreeOutcome> released() {
        return released;
    }

    public CompletionStage<FreeOutcome> free() {
        CompletableFuture<FreeOutcome> mine = new CompletableFuture<>();
        CompletableFuture<FreeOutcome> present = releasing.compareAndExchange(null, mine);
        if (present != null) {
            return present.thenApply(outcome -> FreeOutcome.ALREADY_GONE);
        }
        free(id.selectionId(), line).whenComplete((outcome, failure) -> {
            if (failure == null) {
                released.complete(outcome);
                mine.complete(outcome);
            } else {
                releasing.set(null);
                mine.completeExceptionally(failure);
            }
        });
        return mine;
    }

    @Override
    public void close() {
        free();
    }

    // ---- calls by id

    /** Releases whatever a service has under an id. */
    public static CompletionStage<FreeOutcome> free(String selectionId, Line line) {
        return line.send(HttpMethod.DELETE, path(selectionId), null).handle((reply, failure) -> {
            if (failure == null) {
                return FreeOutcome.FREED;
            }
            if (isGone(failure)) {
                return FreeOutcome.ALREADY_GONE;
            }
            throw failure instanceof SelectionException typed ? typed : new CompletionException(failure);
        });
    }

    /** Reports progress; a booking that is over has none to make. */
    public static CompletionStage<@Nullable Void> progress(
            String selectionId, String what, byte @Nullable [] json, Line line) {
        return line.send(HttpMethod.POST, path(selectionId) + '/' + what, json).handle((reply, failure) -> {
            if (failure == null || isGone(failure)) {
                return null;
            }
            throw failure instanceof SelectionException typed ? typed : new CompletionException(failure);
        });
    }

    private static boolean isGone(Throwable failure) {
        return failure instanceof SelectionException typed && typed.kind() == Kind.NOT_FOUND;
    }

    private static String path(String selectionId) {
        return "/reservations/"
                + URLEncoder.encode(selectionId, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
