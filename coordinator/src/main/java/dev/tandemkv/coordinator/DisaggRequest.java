package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SessionContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a pair of workers. What describes the request is shared by both legs; what names workers is per leg. Immutable; built by
 * {@link #builder(String, Prompt)}.
 *
 * @param id unique among the open plans of a coordinator; the bookings are {@code <id>/prefill} and {@code <id>/decode}
 * @param modelName model of both partitions; default {@code default}
 * @param prompt tokens or hashes
 * @param expectedOutputTokens unsigned 32-bit, or {@code null}; the prefill leg always expects 1
 * @param session the conversation, or {@code null}; both legs carry it
 * @param priorityJump raises the request inside its queue class
 * @param strictPriority a higher tier goes first
 * @param policyClass queue class, or {@code null}
 * @param deadlineTick instant of the ticker after which planning ends, or {@code null}
 * @param prefill the prefill leg
 * @param decode the decode leg
 */
public record DisaggRequest(
        String id,
        String modelName,
        Prompt prompt,
        @Nullable Integer expectedOutputTokens,
        @Nullable SessionContext session,
        double priorityJump,
        int strictPriority,
        @Nullable String policyClass,
        @Nullable Long deadlineTick,
        LegRequest prefill,
        LegRequest decode) {

    /** @throws BadRequestException naming the field */
    public DisaggRequest {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(modelName, "modelName");
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(prefill, "prefill");
        Objects.requireNonNull(decode, "decode");
        if (id.isEmpty()) {
            throw new BadRequestException("selection_id", "''", "a non-empty id");
        }
        if (!Double.isFinite(priorityJump)) {
            throw new BadRequestException("priority_jump", priorityJump, "a finite number");
        }
    }

    public static Builder builder(String id, Prompt prompt) {
        return new Builder(id, prompt);
    }

    public Builder toBuilder() {
        return new Builder(this);
    }

    public LegRequest leg(Leg leg) {
        return leg == Leg.PREFILL ? prefill : decode;
    }

    /** Where one leg is booked. */
    public PartitionKey partition(Leg leg) {
        return new PartitionKey(modelName, leg(leg).routingGroup());
    }

    /** Collects the components of a {@link DisaggRequest}; not thread-safe. */
    public static final class Builder {
        private String id;
        private String modelName = PartitionKey.DEFAULT_NAME;
        private Prompt prompt;
        private @Nullable Integer expectedOutputTokens;
        private @Nullable SessionContext session;
        private double priorityJump;
        private int strictPriority;
        private @Nullable String policyClass;
        private @Nullable Long deadlineTick;
        private LegRequest prefill = LegRequest.ANY;
        private LegRequest decode = LegRequest.ANY;

        private Builder(String id, Prompt prompt) {
            this.id = id;
            this.prompt = prompt;
        }

        private Builder(DisaggRequest r) {
            id = r.id;
            modelName = r.modelName;
            prompt = r.prompt;
            expectedOutputTokens = r.expectedOutputTokens;
            session = r.session;
            priorityJump = r.priorityJump;
            strictPriority = r.strictPriority;
            policyClass = r.policyClass;
            deadlineTick = r.deadlineTick;
            prefill = r.prefill;
            decode = r.decode;
        }

        public Builder id(String id) {
            this.id = id;
            return this;
        }

        /** Default {@code default}. */
        public Builder modelName(String modelName) {
            this.modelName = modelName;
            return this;
        }

        /** Default: unknown. */
        public Builder expectedOutputTokens(@Nullable Integer expectedOutputTokens) {
            this.expectedOutputTokens = expectedOutputTokens;
            return this;
        }

        /** Default: none. */
        public Builder session(@Nullable SessionContext session) {
            this.session = session;
            return this;
        }

        /** Default 0. */
        public Builder priorityJump(double priorityJump) {
            this.priorityJump = priorityJump;
            return this;
        }

        /** Default 0. */
        public Builder strictPriority(int strictPriority) {
            this.strictPriority = strictPriority;
            return this;
        }

        /** Default: none. */
        public Builder policyClass(@Nullable String policyClass) {
            this.policyClass = policyClass;
            return this;
        }

        /** An instant of the coordinator's ticker, in nanoseconds. Default: none. */
        public Builder deadlineTick(@Nullable Long deadlineTick) {
            this.deadlineTick = deadlineTick;
            return this;
        }

        /** Default {@link LegRequest#ANY}. */
        public Builder prefill(LegRequest prefill) {
            this.prefill = prefill;
            return this;
        }

        /** Default {@link LegRequest#ANY}. */
        public Builder decode(LegRequest decode) {
            this.decode = decode;
            return this;
        }

        /** The same for both legs. */
        public Builder bothLegs(LegRequest leg) {
            return prefill(leg).decode(leg);
        }

        /** @throws BadRequestException naming the field */
        public DisaggRequest build() {
            return new DisaggRequest(
                    id,
                    modelName,
                    prompt,
                    expectedOutputTokens,
                    session,
                    priorityJump,
                    strictPriority,
                    policyClass,
                    deadlineTick,
                    prefill,
                    decode);
        }
    }
}
