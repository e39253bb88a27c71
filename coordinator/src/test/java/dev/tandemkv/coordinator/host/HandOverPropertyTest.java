package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.host.HandOver.Status;
import dev.tandemkv.selection.BookingId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Any order of events against a naive model of the states: one end, one delivery, within the bound. */
class HandOverPropertyTest implements HandOverPort {

    enum Event {
        FIRST_PART,
        SECOND_PART,
        TAKE,
        CLIENT_GONE,
        PREFILL_FAILS,
        DECODE_FAILS,
        WORKER_REMOVED,
        TEN_SECONDS
    }

    private final VirtualTime time = new VirtualTime();
    private final List<String> calls = new ArrayList<>();

    @Property(tries = 2000)
    void anyOrderOfEvents_endsOnceAndIsDeliveredOnce(
            @ForAll DisconnectPolicy policy, @ForAll("events") List<Event> events) {
        calls.clear();
        HandOvers all =
                HandOvers.builder(policy, this, time, new SeededRandom(1)).build();
        HandOver real = all.open(new BookingId("r/prefill", WorkerRank.of(1), 1), 2, 1);
        Model model = new Model(policy);
        for (Event event : events) {
            play(event, all, real);
            model.play(event);
            assertThat(real.status()).as("after %s of %s", event, events).isEqualTo(model.status);
            assertThat(calls).as("after %s of %s", event, events).isEqualTo(model.calls);
        }
        time.advance(Duration.ofSeconds(121));
        assertThat(all.live()).hasSize(real.status() == Status.OPEN ? 1 : 0);
        assertThat(calls.stream().filter("ended"::equals)).hasSize(real.status().isEnd() ? 1 : 0);
        assertThat(calls.stream().filter(call -> !call.equals("ended"))).hasSizeLessThanOrEqualTo(1);
        assertThat(time.pending()).isZero();
    }

    private void play(Event event, HandOvers all, HandOver real) {
        switch (event) {
            case FIRST_PART -> real.partArrived();
            case SECOND_PART -> real.partArrived(1);
            case TAKE -> {
                try {
                    real.take();
                    assertThat(real.status()).isEqualTo(Status.DONE);
                } catch (HandOverException unusable) {
                    assertThat(unusable.handOverId()).isEqualTo(real.id());
                }
            }
            case CLIENT_GONE -> real.clientGone();
            case PREFILL_FAILS -> real.fail(Leg.PREFILL, new IllegalStateException("prefill"));
            case DECODE_FAILS -> real.fail(Leg.DECODE, new IllegalStateException("decode"));
            case WORKER_REMOVED -> all.workerRemoved(1);
            case TEN_SECONDS -> time.advance(Duration.ofSeconds(10));
        }
    }

    /** The table of 3.11, written down as plainly as it reads. */
    private static final class Model {
        private final DisconnectPolicy policy;
        private final List<String> calls = new ArrayList<>();
        private Status status = Status.OPEN;
        private boolean first;
        private boolean second;
        private boolean clientGone;
        private boolean told;
        private int waited;

        Model(DisconnectPolicy policy) {
            this.policy = policy;
        }

        void play(Event event) {
            boolean live = status == Status.OPEN || status == Status.STAGED;
            switch (event) {
                case FIRST_PART -> first = true;
                case SECOND_PART -> second = true;
                case TAKE -> {
                    if (status == Status.STAGED) {
                        end(Status.DONE);
                    }
                }
                case CLIENT_GONE -> clientGone();
                case PREFILL_FAILS -> {
                    if (status == Status.STAGED) {
                        tell("cleanUp");
                    }
                    if (live) {
                        end(Status.FAILED);
                    }
                }
                case DECODE_FAILS -> {
                    tell(status == Status.OPEN ? "cancelPrefill" : "cleanUp");
                    if (live) {
                        end(Status.FAILED);
                    }
                }
                case WORKER_REMOVED -> {
                    if (live) {
                        end(Status.FAILED);
                    }
                }
                case TEN_SECONDS -> tenSeconds();
            }
            if (status == Status.OPEN && first && second) {
                status = Status.STAGED;
            }
        }

        private void clientGone() {
            if (clientGone) {
                return;
            }
            clientGone = true;
            if (status == Status.OPEN) {
                tell("cancelPrefill");
                end(Status.FAILED);
            } else if (status == Status.STAGED && policy == DisconnectPolicy.ABORT) {
                tell("cleanUp");
                end(Status.FAILED);
            }
        }

        private void tenSeconds() {
            if (status != Status.STAGED) {
                return;
            }
            waited += 10;
            if (waited >= 30) {
                if (clientGone && policy == DisconnectPolicy.DISPATCH_AND_DRAIN) {
                    tell("cleanUp");
                }
                end(Status.EXPIRED);
            }
        }

        private void tell(String what) {
            if (!told && status != Status.FAILED && status != Status.EXPIRED) {
                told = true;
                calls.add(what);
            }
        }

        private void end(Status how) {
            status = how;
            calls.add("ended");
        }
    }

    @Provide
    Arbitrary<List<Event>> events() {
        return Arbitraries.of(Event.class).list().ofMaxSize(12);
    }

    @Override
    public void cancelPrefill(HandOver handOver) {
        calls.add("cancelPrefill");
    }

    @Override
    public void cleanUp(HandOver handOver) {
        calls.add("cleanUp");
    }

    @Override
    public void ended(HandOver handOver) {
        calls.add("ended");
    }
}
