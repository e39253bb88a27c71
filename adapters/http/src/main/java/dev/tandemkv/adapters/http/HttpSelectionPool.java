package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.client.Calls;
import dev.tandemkv.adapters.http.internal.client.Calls.Call;
import dev.tandemkv.adapters.http.internal.client.RemoteBooking;
import dev.tandemkv.adapters.http.internal.wire.JsonBody;
import dev.tandemkv.adapters.http.internal.wire.SelectRequests;
import dev.tandemkv.adapters.http.internal.wire.SelectionReader;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.adapters.http.internal.wire.WorkerBody;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SelectionPool} that is a selection service elsewhere: ours, or another of the same wire form. So a coordinator can drive services.
 *
 * <p>Thread-safe. Calls wait on no thread; their stages complete on an event loop of the Vert.x instance, and cancelling one gives the
 * request up, which withdraws it over there. A booking is owned by its id over there and lives by its lease: whoever holds a booking for long
 * calls {@link #touch}. The wire knows bookings by id alone, so that of two bookings under one id this side remembers which one a handle
 * names. A failure of the connection is {@code UNAVAILABLE}: the outcome is unknown.
 *
 * <p>{@link #score} is empty over the wire: a coordinator's {@code JOINT} order becomes {@code PREFILL_ANCHORED}. A request's exclusions, a
 * pin of the router's own, its deadline, whether it is recorded and whether it is explained travel in fields that other services ignore. A
 * deadline travels as the time that is left; the terms of an explanation are told with their cost, whose formula is the service's.
 *
 * <p>What may wait in the service's queue and what ends bookings use connections of their own, so that no release waits behind requests that
 * wait for it.
 */
public final class HttpSelectionPool implements SelectionPool, AutoCloseable {

    private static final int PORT = 8092;

    private final Calls choices;
    private final Calls lifecycle;
    private final Duration callTimeout;
    private final Ticker ticker;
    private final AtomicLong attempts = new AtomicLong();
    /** Handles of this side whose bookings may be live, by selection id: at most one for an id, and gone with its booking. */
    private final ConcurrentMap<String, RemoteBooking> handles = new ConcurrentHashMap<>();

    private HttpSelectionPool(Builder builder) {
        choices = new Calls(builder.vertx, builder.service, PORT, builder.connections, builder.connectTimeout);
        lifecycle = new Calls(builder.vertx, builder.service, PORT, builder.connections, builder.connectTimeout);
        callTimeout = builder.callTimeout;
        ticker = builder.ticker;
    }

    /**
     * @param service where it listens, for example {@code http://127.0.0.1:8092}, which is the default port
     * @throws IllegalArgumentException if the address is none of HTTP without TLS
     */
    public static Builder builder(Vertx vertx, URI service) {
        return new Builder(vertx, service);
    }

    // ---- choosing

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        Call call = choosing("/select", request, SelectRequests.Form.CHOOSING);
        return answer(choices.send(call), reply -> selection(call, reply, request), late -> {});
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        Call call = choosing("/select_and_reserve", request, SelectRequests.Form.BOOKING);
        return answer(choices.send(call), reply -> booked(selection(call, reply, request)), Booking::close);
    }

    private Call choosing(String path, SelectRequest request, SelectRequests.Form form) {
        byte[] body = SelectRequests.of(request, form, ticker.read());
        return new Call(HttpMethod.POST, path, body, request.policyClass(), null);
    }

    private static Selection selection(Call call, Calls.Reply reply, SelectRequest request) {
        return reply.read(call.path(), SelectionReader::read)
                .selection(request.prompt().islTokens(), rung(reply.rung()));
    }

    /** A service that says nothing of it has no other rung. */
    private static LadderRung rung(@Nullable String named) {
        for (LadderRung rung : LadderRung.values()) {
            if (rung.name().toLowerCase(Locale.ROOT).equals(named)) {
                return rung;
            }
        }
        return LadderRung.EXACT_INDEX;
    }

    private Booking booked(Selection selection) {
        String id = selection.selectionId();
        if (id == null) {
            throw new PoolUnavailableException("/select_and_reserve", "an answer without selection_id", null);
        }
        RemoteBooking handle = new RemoteBooking(
                new BookingId(id, selection.worker(), attempts.incrementAndGet()), selection, this::send);
        handles.put(id, handle);
        handle.released().whenComplete((outcome, failure) -> handles.remove(id, handle));
        return handle;
    }

    // ---- bookings

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        Objects.requireNonNull(booking, "booking");
        return booking instanceof RemoteBooking handle
                ? handle.free()
                : free(booking.id().selectionId());
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        Objects.requireNonNull(selectionId, "selectionId");
        RemoteBooking handle = handles.get(selectionId);
        return handle == null ? RemoteBooking.free(selectionId, this::send) : handle.free();
    }

    @Override
    public CompletionStage<@Nullable Void> prefillComplete(Booking booking) {
        return progress(booking, "prefill_complete", null);
    }

    @Override
    public CompletionStage<@Nullable Void> touch(Booking booking) {
        return progress(booking, "touch", null);
    }

    /** A booking that is over has no progress to make. */
    private CompletionStage<@Nullable Void> progress(Booking booking, String what, byte @Nullable [] json) {
        return RemoteBooking.progress(booking.id().selectionId(), what, json, this::send);
    }

    private CompletableFuture<Calls.Reply> send(HttpMethod method, String path, byte @Nullable [] json) {
        return lifecycle.send(new Call(method, path, json, null, callTimeout));
    }

    // ---- reading

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        String path = "/workers?model_name=" + encoded(partition.modelName()) + "&routing_group="
                + encoded(partition.routingGroup());
        return answer(
                send(HttpMethod.GET, path, null),
                reply -> reply.read(path, HttpSelectionPool::records).stream()
                        .filter(record -> record.workerId() == workerId)
                        .findFirst(),
                late -> {});
    }

    private static List<WorkerRecord> records(JsonBody body) throws IOException, WireException {
        List<WorkerRecord> records = new ArrayList<>();
        body.list("workers", at -> records.add(WorkerBody.readRecord(body)));
        return records;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /**
     * Makes an answer of a reply. Cancelling the stage cancels the call; what arrives all the same is handed to {@code late}.
     */
    private static <T> CompletionStage<T> answer(
            CompletableFuture<Calls.Reply> call, Function<Calls.Reply, T> read, Consumer<T> late) {
        CompletableFuture<T> stage = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
                boolean cancelled = super.cancel(mayInterrupt);
                call.cancel(mayInterrupt);
                return cancelled;
            }
        };
        call.whenComplete((reply, failure) -> {
            if (reply == null) {
                stage.completeExceptionally(failure);
                return;
            }
            try {
                T answer = read.apply(reply);
                if (!stage.complete(answer)) {
                    late.accept(answer);
                }
            } catch (SelectionException e) {
                stage.completeExceptionally(e);
            }
        });
        return stage;
    }

    /** Closes the connections. What is booked stays booked until its lease ends. */
    @Override
    public void close() {
        choices.close();
        lifecycle.close();
    }

    /** Describes a pool; not thread-safe. */
    public static final class Builder {
        private static final int CONNECTIONS = 256;

        private final Vertx vertx;
        private final URI service;
        private int connections = CONNECTIONS;
        private Duration connectTimeout = Duration.ofSeconds(2);
        private Duration callTimeout = Duration.ofSeconds(5);
        private Ticker ticker = Ticker.system();

        private Builder(Vertx vertx, URI service) {
            this.vertx = Objects.requireNonNull(vertx, "vertx");
            this.service = Objects.requireNonNull(service, "service");
            Calls.address(service, PORT);
        }

        /** Most connections for requests that may wait, and as many for those that do not; default 256. */
        public Builder connections(int most) {
            if (most < 1) {
                throw new IllegalArgumentException("connections: " + most + " (expected: >= 1)");
            }
            connections = most;
            return this;
        }

        /** Longest time to make a connection; default 2 s. */
        public Builder connectTimeout(Duration bound) {
            connectTimeout = Objects.requireNonNull(bound, "bound");
            return this;
        }

        /** Longest time of a call that does not wait in a queue; default 5 s. */
        public Builder callTimeout(Duration bound) {
            callTimeout = Objects.requireNonNull(bound, "bound");
            return this;
        }

        /** Of which requests' deadlines are instants. Default the system's. */
        public Builder ticker(Ticker ofTheCaller) {
            ticker = Objects.requireNonNull(ofTheCaller, "ofTheCaller");
            return this;
        }

        public HttpSelectionPool build() {
            return new HttpSelectionPool(this);
        }
    }
}
