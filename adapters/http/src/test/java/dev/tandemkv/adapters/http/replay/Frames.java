package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The messages that a row publishes. */
final class Frames {

    private Frames() {}

    static List<List<byte[]>> published(JsonNode row, Path wire) {
        if (row.has("frames")) {
            return List.of(frames(row.get("frames")));
        }
        // A capture is named from the folder above its own.
        Path file = wire.resolve(Path.of(row.get("capture").asText()).getFileName());
        List<String> lines = Conversation.lines(file);
        List<List<byte[]>> messages = new ArrayList<>();
        for (int i = row.get("lines").get(0).asInt();
                i <= row.get("lines").get(1).asInt();
                i++) {
            messages.add(frames(Conversation.parse(lines.get(i)).get("frames")));
        }
        return messages;
    }

    private static List<byte[]> frames(JsonNode hex) {
        List<byte[]> frames = new ArrayList<>();
        hex.forEach(frame -> frames.add(HexFormat.of().parseHex(frame.asText())));
        return frames;
    }
}
