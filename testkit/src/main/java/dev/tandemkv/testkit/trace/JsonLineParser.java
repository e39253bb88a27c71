package dev.tandemkv.testkit.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The JSON Lines formats: one object a line. Fields it does not know are passed over; a field twice, a missing one, a value of the wrong
 * kind or out of range, blocks that do not fit the length, and time that runs backwards are refused.
 */
final class JsonLineParser implements LineParser {

    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final long[] NONE = {};

    private final TraceFormat format;
    private final JsonFactory json = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private long[] ids = new long[64];
    private long lastArrival;

    // The fields of the line in hand.
    private double timestamp;
    private double delay;
    private long input;
    private long output;
    private long[] blocks = NONE;
    private boolean blocksSeen;
    private long chatId;
    private long parentChatId;
    private long turn;
    private String type = "";

    JsonLineParser(TraceFormat format) {
        this.format = format;
    }

    @Override
    public TraceRequest parse(String line) throws BadLine {
        reset();
        try (JsonParser parser = json.createParser(line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw BadLine.field("line", "no JSON object", "one JSON object per line");
            }
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String field = parser.currentName();
                parser.nextToken();
                read(field, parser);
            }
            if (parser.nextToken() != null) {
                throw BadLine.field("line", "text after the object", "one JSON object per line");
            }
        } catch (JsonProcessingException e) {
            throw new BadLine("not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new BadLine("unreadable: " + e.getMessage(), e);
        }
        TraceRequest request = request();
        lastArrival = request.arrivalNanos();
        return request;
    }

    private void reset() {
        timestamp = Double.NaN;
        delay = Double.NaN;
        input = -1;
        output = -1;
        blocks = NONE;
        blocksSeen = false;
        chatId = -1;
        parentChatId = -1;
        turn = -1;
        type = "";
    }

    private void read(String field, JsonParser parser) throws IOException, BadLine {
        switch (field) {
            case "timestamp" -> timestamp = time(field, parser);
            case "delay" -> delay = time(field, parser);
            case "input_length" -> input = integer(field, parser, 1, Integer.MAX_VALUE);
            case "output_length" -> output = integer(field, parser, 0, Integer.MAX_VALUE);
            case "hash_ids" -> {
                blocks = hashIds(parser);
                blocksSeen = true;
            }
            default -> {
                if (format != TraceFormat.BAILIAN || !readTurn(field, parser)) {
                    parser.skipChildren();
                }
            }
        }
    }

    private boolean readTurn(String field, JsonParser parser) throws IOException, BadLine {
        switch (field) {
            case "chat_id" -> chatId = integer(field, parser, 0, Long.MAX_VALUE);
            case "parent_chat_id" -> parentChatId = integer(field, parser, -1, Long.MAX_VALUE);
            case "turn" -> turn = integer(field, parser, 0, Integer.MAX_VALUE);
            case "type" -> type = parser.getValueAsString("");
            default -> {
                return false;
            }
        }
        return true;
    }

    private static double time(String field, JsonParser parser) throws IOException, BadLine {
        if (parser.currentToken().isNumeric()) {
            double value = parser.getDoubleValue();
            if (value >= 0 && value <= 1e12) {
                return value;
            }
        }
        throw BadLine.field(field, parser.getText(), "a number >= 0");
    }

    private static long integer(String field, JsonParser parser, long least, long most) throws IOException, BadLine {
        if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long value = parser.getLongValue();
            if (value >= least && value <= most) {
                return value;
            }
        }
        throw BadLine.field(field, parser.getText(), "an integer >= " + least);
    }

    private long[] hashIds(JsonParser parser) throws IOException, BadLine {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw BadLine.field("hash_ids", parser.getText(), "an array of integers");
        }
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == ids.length) {
                ids = Arrays.copyOf(ids, count * 2);
            }
            ids[count] = integer("hash_ids[" + count + "]", parser, Long.MIN_VALUE, Long.MAX_VALUE);
            count++;
        }
        return Arrays.copyOf(ids, count);
    }

    private TraceRequest request() throws BadLine {
        if (!blocksSeen) {
            throw BadLine.field("hash_ids", "missing", "an array of integers");
        }
        if (output < 0) {
            throw BadLine.field("output_length", "missing", "an integer >= 0");
        }
        long tokens = inputTokens();
        requireDistinct(blocks);
        return new TraceRequest(arrival(), (int) tokens, (int) output, blocks, chatTurn());
    }

    private long inputTokens() throws BadLine {
        int blockTokens = format.blockTokens();
        if (input < 0) {
            if (format == TraceFormat.BAILIAN || blocks.length == 0) {
                throw BadLine.field("input_length", "missing", "an integer >= 1");
            }
            return Math.multiplyExact(blocks.length, blockTokens);
        }
        long all = (input + blockTokens - 1) / blockTokens;
        // A Bailian file may leave a partial last block without an id.
        boolean partialUnnamed = format == TraceFormat.BAILIAN && blocks.length == input / blockTokens;
        if (blocks.length != all && !partialUnnamed) {
            throw BadLine.field("hash_ids", blocks.length + " ids", all + " for input_length " + input);
        }
        return input;
    }

    private static void requireDistinct(long[] ids) throws BadLine {
        Set<Long> seen = new HashSet<>(ids.length * 2);
        for (long id : ids) {
            if (!seen.add(id)) {
                throw BadLine.field("hash_ids", "id " + id + " twice", "no id twice in a request");
            }
        }
    }

    private long arrival() throws BadLine {
        long unit = format == TraceFormat.BAILIAN ? NANOS_PER_SECOND : NANOS_PER_MILLI;
        if (!Double.isNaN(timestamp)) {
            long arrival = Math.round(timestamp * unit);
            if (arrival < lastArrival) {
                throw BadLine.field("timestamp", timestamp, ">= " + (double) lastArrival / unit + ", sorted by time");
            }
            return arrival;
        }
        if (format == TraceFormat.MOONCAKE && !Double.isNaN(delay)) {
            return lastArrival + Math.round(delay * unit);
        }
        throw BadLine.field("timestamp", "missing", "a number >= 0");
    }

    private TraceRequest.@Nullable ChatTurn chatTurn() throws BadLine {
        if (format != TraceFormat.BAILIAN) {
            return null;
        }
        if (chatId < 0) {
            throw BadLine.field("chat_id", "missing", "an integer >= 0");
        }
        return new TraceRequest.ChatTurn(chatId, parentChatId, (int) Math.max(turn, 0), type);
    }
}
