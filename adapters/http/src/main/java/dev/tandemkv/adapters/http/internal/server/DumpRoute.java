package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.CheckpointDump;
import dev.tandemkv.indexer.dump.IndexDump;
import dev.tandemkv.selection.SelectionCore;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/** {@code GET /dump}: in our own form for who accepts it, where there is one, else in that of the peer. */
public final class DumpRoute implements Routes.Handler {

    private static final String JSON = "application/json";

    private final SelectionCore core;
    private final @Nullable CheckpointDump checkpoints;

    /** @param checkpoints writes our own form, or {@code null} */
    public DumpRoute(SelectionCore core, @Nullable CheckpointDump checkpoints) {
        this.core = core;
        this.checkpoints = checkpoints;
    }

    @Override
    public void handle(Exchange exchange) {
        String accepted = exchange.header("accept");
        if (checkpoints != null && accepted != null && accepted.contains(IndexDump.MEDIA_TYPE)) {
            answer(exchange, IndexDump.MEDIA_TYPE, checkpoints);
        } else {
            answer(exchange, JSON, core::dump);
        }
    }

    private static void answer(Exchange exchange, String contentType, CheckpointDump form) {
        exchange.blocking(
                () -> {
                    ByteArrayOutputStream dump = new ByteArrayOutputStream();
                    form.write(dump);
                    return dump.toByteArray();
                },
                dump -> exchange.answerText(200, contentType, dump));
    }
}
