package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.internal.wire.Answers;
import dev.tandemkv.adapters.http.internal.wire.ReservationBody;
import dev.tandemkv.adapters.http.internal.wire.SelectBody;
import dev.tandemkv.adapters.http.internal.wire.SmallBodies;
import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.ReservationRequest;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionCore;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The routes that choose and book: each one reads its request, calls the core, and writes what it answers. Stateless but for its parts. */
public final class SelectionRoutes {

    private static final String POLICY_CLASS = "x-dynamo-meta-policy-class";

    /** What the knowledge of caches rested on (an addition of ours, in a header so that the body stays the peer's). */
    private static final String RUNG = "x-tandemkv-rung";

    private final SelectionCore core;
    private final Admission admission;
    private final Ticker ticker;

    /** @param ticker the core's */
    public SelectionRoutes(SelectionCore core, Admission admission, Ticker ticker) {
        this.core = core;
        this.admission = admission;
        this.ticker = ticker;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/select", this::select)
                .on("POST", "/select_and_reserve", this::selectAndReserve)
                .on("POST", "/reservations", this::createReservation)
                .on("DELETE", "/reservations/{}", this::free)
                .on("POST", "/reservations/{}/prefill_complete", this::prefillComplete)
                .on("POST", "/reservations/{}/output_block", this::outputBlock)
                .on("POST", "/reservations/{}/touch", this::touch)
                .on("POST", "/overlap_scores", this::overlapScores)
                .on("POST", "/potential_loads", this::potentialLoads);
    }

    // ---- choosing

    private void select(Exchange exchange) {
        exchange.json(SelectBody.reader(SelectBody.Route.SELECT), body -> {
            SelectRequest request = request(body, policyClass(exchange));
            exchange.later(core.select(request), chosen -> {
                exchange.answerHeader(RUNG, rung(chosen));
                exchange.answer(200, answer(chosen, Answers.Form.CHOSEN, body));
            });
        });
    }

    private void selectAndReserve(Exchange exchange) {
        exchange.json(SelectBody.reader(SelectBody.Route.RESERVE), body -> {
            SelectRequest request = request(body, policyClass(exchange));
            booked(exchange, () -> core.reserve(request), SelectionRoutes::idOf, chosen -> {
                exchange.answerHeader(RUNG, rung(chosen));
                exchange.answer(200, answer(chosen, Answers.Form.BOOKED, body), () -> takeBack(idOf(chosen)));
            });
        });
    }

    private void createReservation(Exchange exchange) {
        exchange.json(ReservationBody::read, body -> {
            ReservationRequest request = unfitAfterUnready(body.partition(), body::request);
            booked(
                    exchange,
                    () -> core.createReservation(request),
                    made -> made.booking().selectionId(),
                    made -> exchange.answer(
                            201,
                            Answers.reserved(made),
                            () -> takeBack(made.booking().selectionId())));
        });
    }

    private byte[] answer(Selection chosen, Answers.Form form, SelectBody body) {
        // A worker that left meanwhile is told with the rank that was chosen.
        List<Integer> ranks = core.find(chosen.worker().workerId())
                .map(record -> record.spec())
                .filter(worker -> worker.hasRank(chosen.worker().rank()))
                .map(SelectionRoutes::ranks)
                .orElse(List.of(chosen.worker().rank()));
        return Answers.selection(chosen, form, body.promptFields().islExcess(), ranks);
    }

    private static List<Integer> ranks(WorkerSpec worker) {
        return IntStream.range(0, worker.rankCount())
                .map(i -> worker.startRank() + i)
                .boxed()
                .toList();
    }

    private static @Nullable String policyClass(Exchange exchange) {
        String named = exchange.header(POLICY_CLASS);
        return named == null || named.isBlank() ? null : named.trim();
    }

    private static String rung(Selection chosen) {
        return chosen.rung().name().toLowerCase(Locale.ROOT);
    }

    private SelectRequest request(SelectBody body, @Nullable String policyClass) {
        return unfitAfterUnready(body.partition(), () -> body.request(policyClass, ticker.read()));
    }

    /** A partition that is not ready is told before a prompt that is unfit. */
    private <T> T unfitAfterUnready(PartitionKey partition, Supplier<T> request) {
        try {
            return request.get();
        } catch (BadRequestException unfit) {
            core.requireReady(partition);
            throw unfit;
        }
    }

    // ---- booking

    /** Counts the booking as its client's from before it is asked for until it is over. */
    private <T> void booked(
            Exchange exchange, Supplier<CompletionStage<T>> booking, Function<T, String> idOf, Consumer<T> answer)
            throws WireException {
        String client = exchange.client();
        if (!admission.enter(client)) {
            throw tooManyReservations();
        }
        CompletionStage<T> stage = booking.get();
        stage.whenComplete((made, failure) -> {
            if (made == null) {
                admission.leave(client);
            } else {
                admission.booked(client, idOf.apply(made));
            }
        });
        exchange.later(stage, answer);
    }

    private WireException tooManyReservations() {
        int limit = admission.limit();
        return WireException.limited(
                429,
                Kind.OVERLOADED,
                "reservations of this client: " + limit + " (expected: fewer than " + limit + ")",
                new WireException.Limit("client_reservations", limit, limit));
    }

    /** The client left before it had its answer, so nobody knows of the booking. */
    private void takeBack(String selectionId) {
        core.free(selectionId);
    }

    private static String idOf(Selection chosen) {
        if (chosen.selectionId() == null) {
            throw new IllegalStateException("selectionId: none (expected: every booking has one)");
        }
        return chosen.selectionId();
    }

    // ---- bookings, by id

    private void free(Exchange exchange) {
        String id = exchange.pathParameter();
        exchange.later(core.free(id), outcome -> {
            if (outcome == FreeOutcome.FREED) {
                exchange.answer(200, Answers.ok());
            } else {
                exchange.fail(new NotFoundException("reservation", id));
            }
        });
    }

    private void prefillComplete(Exchange exchange) {
        exchange.later(core.prefillComplete(exchange.pathParameter()), done -> exchange.answer(200, Answers.ok()));
    }

    private void touch(Exchange exchange) {
        exchange.later(core.touch(exchange.pathParameter()), done -> exchange.answer(200, Answers.ok()));
    }

    private void outputBlock(Exchange exchange) {
        exchange.json(SmallBodies::decayFraction, fraction -> {
            String id = exchange.pathParameter();
            exchange.later(
                    fraction.isPresent()
                            ? core.addOutputBlocks(id, 1, fraction.getAsDouble())
                            : core.addOutputBlocks(id, 1),
                    done -> exchange.answer(200, Answers.ok()));
        });
    }

    // ---- reading

    private void overlapScores(Exchange exchange) {
        exchange.json(SelectBody.reader(SelectBody.Route.READING), body -> {
            SelectRequest request = request(body, null);
            exchange.later(core.overlapScores(request), report -> exchange.answer(200, Answers.overlaps(report)));
        });
    }

    private void potentialLoads(Exchange exchange) {
        exchange.json(SelectBody.reader(SelectBody.Route.READING), body -> {
            SelectRequest request = request(body, null);
            exchange.later(core.potentialLoads(request), loads -> exchange.answer(200, Answers.ranks(loads)));
        });
    }
}
