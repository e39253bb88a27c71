package dev.tandemkv.adapters.http.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.RoutingConstraints;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What a client writes is what a service reads. */
class SelectRequestRoundTripPropertyTest {

    /** So near to the end that instants pass it. */
    private static final long NOW = Long.MAX_VALUE - 1_000;

    @Property
    void request_writtenAndRead_isTheSame(@ForAll long seed) throws WireException {
        SelectRequest request = request(new SeededRandom(seed));
        byte[] json = SelectRequests.of(request, SelectRequests.Form.CHOOSING, NOW);

        SelectBody read = JsonBody.read(
                json, json.length, JsonBody.UnknownFields.REFUSED, SelectBody.reader(SelectBody.Route.SELECT));

        assertThat(read.request(request.policyClass(), NOW)).isEqualTo(request);
    }

    private static SelectRequest request(RandomGenerator random) {
        SelectRequest.Builder request = SelectRequest.builder(prompt(random))
                .partition(new PartitionKey(text(random), text(random)))
                .selectionId(random.nextBoolean() ? null : text(random))
                .override(override(random))
                .expectedOutputTokens(random.nextBoolean() ? null : random.nextInt())
                .priorityJump(random.nextDouble() * random.nextInt())
                .strictPriority(random.nextInt())
                .session(random.nextBoolean() ? null : session(random))
                .affinityTarget(
                        random.nextBoolean()
                                ? null
                                : new AffinityTarget(random.nextLong(), random.nextBoolean() ? null : random.nextInt()))
                .allowedWorkerIds(random.nextBoolean() ? null : Set.of(random.nextLong(), -1L))
                .excludedWorkerIds(random.nextBoolean() ? Set.of() : Set.of(random.nextLong()))
                .constraints(new RoutingConstraints(
                        random.nextBoolean() ? Set.of() : Set.of(text(random)),
                        random.nextBoolean() ? Map.of() : Map.of(text(random), (double) random.nextFloat())))
                .mode(random.nextBoolean() ? SelectRequest.Mode.ADVISORY : SelectRequest.Mode.QUEUED)
                .queueing(random.nextBoolean() ? SelectRequest.Queueing.REFUSED : SelectRequest.Queueing.ALLOWED)
                .policyClass(random.nextBoolean() ? null : "express")
                .deadlineTick(random.nextBoolean() ? null : Long.valueOf(NOW + 1_000_000L * random.nextInt(0, 1 << 30)))
                .recording(random.nextBoolean() ? SelectRequest.Recording.SKIPPED : SelectRequest.Recording.RECORDED)
                .explanation(
                        random.nextBoolean() ? SelectRequest.Explain.EVERY_CANDIDATE : SelectRequest.Explain.NOTHING);
        WorkerRank pin = new WorkerRank(random.nextLong(), random.nextInt());
        return switch (random.nextInt(3)) {
            case 0 -> request.pinnedWorker(pin).build();
            case 1 -> request.pinnedByRouter(pin).build();
            default -> request.build();
        };
    }

    private static Prompt prompt(RandomGenerator random) {
        String lora = random.nextBoolean() ? null : text(random);
        Boolean eagle = random.nextBoolean() ? null : Boolean.valueOf(random.nextBoolean());
        int length = random.nextInt(0, 9);
        if (random.nextBoolean()) {
            return new Prompt.Hashes(
                    random.longs(length).toArray(),
                    random.longs(length).toArray(),
                    random.nextLong(1, Long.MAX_VALUE),
                    lora,
                    lora,
                    eagle);
        }
        List<long[]> objects =
                random.nextBoolean() ? List.of() : List.of(random.longs(2).toArray(), new long[0]);
        return new Prompt.Tokens(random.ints(length + 1L).toArray(), objects, lora, lora, eagle);
    }

    private static RouterConfigOverride override(RandomGenerator random) {
        return random.nextBoolean()
                ? RouterConfigOverride.NONE
                : RouterConfigOverride.NONE
                        .withOverlapScoreCredit(random.nextDouble())
                        .withAssumeKvReuse(random.nextBoolean())
                        .withTrackPrefillTokens(random.nextBoolean() ? null : Boolean.valueOf(random.nextBoolean()))
                        .withRouterTemperature(random.nextBoolean() ? null : Double.valueOf(random.nextDouble()));
    }

    private static SessionContext session(RandomGenerator random) {
        SessionContext.InputTrigger[] triggers = SessionContext.InputTrigger.values();
        return new SessionContext(
                text(random),
                random.nextBoolean() ? null : text(random),
                random.nextBoolean() ? null : Boolean.valueOf(random.nextBoolean()),
                random.nextBoolean() ? null : triggers[random.nextInt(triggers.length)]);
    }

    private static String text(RandomGenerator random) {
        String[] samples = {"", "a", "zone/b \"quoted\"", "\u00e4\u4f60\ud83d\ude00", "line\nbreak", "%2F"};
        return samples[random.nextInt(samples.length)];
    }

    @Property
    void number_ofAnySize_isReadAsTheSame64Bits_orRefused(@ForAll BigInteger number) {
        byte[] json = ("{\"endpoint\": " + number + "}").getBytes(StandardCharsets.UTF_8);
        boolean fits = number.bitLength() <= 63 || (number.signum() > 0 && number.bitLength() == 64);
        long read = 0;
        boolean refused = false;
        try {
            long[] value = new long[1];
            JsonBody.read(json, json.length, JsonBody.UnknownFields.IGNORED, body -> {
                body.object("o", name -> {
                    value[0] = body.bits64(name);
                    return true;
                });
                return value;
            });
            read = value[0];
        } catch (WireException e) {
            refused = true;
            assertThat(e.status()).isEqualTo(422);
        }
        assertThat(refused).isEqualTo(!fits);
        assertThat(read).isEqualTo(fits ? number.longValue() : 0);
    }
}
