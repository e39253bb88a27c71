package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageInsufficientBufferException;
import org.msgpack.core.MessageIntegerOverflowException;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageSizeException;
import org.msgpack.core.MessageTypeException;
import org.msgpack.value.ValueType;

/**
 * Turns payloads of vLLM, SGLang and the TensorRT-LLM publisher of Dynamo into what they say: batches of positional events, tagged maps,
 * or both mixed, of all releases. Events with an unknown tag are left out and counted, unknown keys and further elements skipped.
 *
 * <pre>{@code
 * WireDecoder decoder = new WireDecoder(WireLimits.defaults());
 * WireBatch batch = decoder.decode(payload);
 * }</pre>
 *
 * <p>Thread-safe: stateless. Never blocks; memory taken is proportional to the payload, whatever lengths it announces.
 */
public final class WireDecoder {

    private final WireLimits limits;

    /** @param limits what a payload may contain */
    public WireDecoder(WireLimits limits) {
        this.limits = Objects.requireNonNull(limits, "limits");
    }

    /**
     * Decodes one payload.
     *
     * @param payload MessagePack bytes of one batch; not changed, not kept
     * @throws WireFormatException if they are not one complete batch within the limits
     * @throws NullPointerException if {@code payload} is null
     */
    public WireBatch decode(byte[] payload) {
        return read(payload, limits, in -> new BatchReader(in).read());
    }

    /** Reads one value. */
    interface Reading<T> {
        T from(WireReader in) throws IOException;
    }

    /** Reads one value that is the whole payload, and says in our words what was wrong with it. */
    static <T> T read(byte[] payload, WireLimits limits, Reading<T> reading) {
        WireReader in = new WireReader(payload, limits);
        try {
            T value = reading.from(in);
            if (in.remaining() > 0) {
                throw in.at("payload").fail(Problem.TRAILING_BYTES, in.remaining() + " bytes", "the end");
            }
            return value;
        } catch (MessageInsufficientBufferException e) {
            throw in.fail(Problem.TRUNCATED, "the end", "more bytes", e);
        } catch (MessageIntegerOverflowException e) {
            throw in.fail(Problem.OUT_OF_RANGE, "an integer", "one that fits", e);
        } catch (MessageTypeException e) {
            throw in.fail(Problem.WRONG_TYPE, "another type", "the field's type", e);
        } catch (MessageSizeException e) {
            throw in.fail(Problem.LIMIT_EXCEEDED, "a length above 2^31", "a smaller one", e);
        } catch (MessagePackException | IOException e) {
            throw in.fail(Problem.MALFORMED, "unreadable bytes", "MessagePack", e);
        }
    }

    /** Reads the outer array or map of one batch. */
    private static final class BatchReader {
        private final WireReader in;
        private final PositionalEvents positional;
        private final TaggedEvents tagged;
        private int unknownEvents;

        BatchReader(WireReader in) {
            FieldReader fields = new FieldReader(in);
            this.in = in;
            this.positional = new PositionalEvents(in, fields);
            this.tagged = new TaggedEvents(in, fields);
        }

        WireBatch read() throws IOException {
            return in.at("batch").type() == ValueType.MAP ? map() : array();
        }

        private WireBatch array() throws IOException {
            int elements = in.arrayHeader(Integer.MAX_VALUE);
            if (elements < 2) {
                throw in.fail(Problem.MISSING_FIELD, elements + " elements", ">= 2");
            }
            double timestamp = in.at("ts").number();
            List<WireEvent> events = events();
            Integer rank = elements > 2 ? rank("data_parallel_rank") : null;
            in.at("batch").skip(Math.max(0, elements - 3));
            return new WireBatch(timestamp, events, rank, unknownEvents);
        }

        private WireBatch map() throws IOException {
            int pairs = in.mapHeader();
            Double timestamp = null;
            List<WireEvent> events = null;
            Integer rank = null;
            for (int i = 0; i < pairs; i++) {
                if (in.at("key").type() != ValueType.STRING) {
                    in.skip(2);
                    continue;
                }
                String key = in.text();
                switch (key) {
                    case "ts" -> timestamp = in.at(key).number();
                    case "events" -> events = events();
                    case "data_parallel_rank", "dp_rank", "attn_dp_rank" -> {
                        Integer named = rank(key);
                        rank = named == null ? rank : named;
                    }
                    default -> in.at("batch").skip();
                }
            }
            if (timestamp == null || events == null) {
                throw in.at(timestamp == null ? "ts" : "events")
                        .fail(Problem.MISSING_FIELD, "a batch without it", "present");
            }
            return new WireBatch(timestamp, events, rank, unknownEvents);
        }

        private @Nullable Integer rank(String field) throws IOException {
            return in.at(field).takeNil() ? null : (Integer) (int) in.unsigned(0xffff_ffffL);
        }

        private List<WireEvent> events() throws IOException {
            int count = in.at("events").arrayHeader(in.limits().events());
            List<WireEvent> events = new ArrayList<>(Math.min(count, 64));
            for (int i = 0; i < count; i++) {
                WireEvent event = in.at("event").type() == ValueType.MAP ? tagged.read() : positional.read();
                if (event == null) {
                    unknownEvents++;
                } else {
                    events.add(event);
                }
            }
            return events;
        }
    }
}
