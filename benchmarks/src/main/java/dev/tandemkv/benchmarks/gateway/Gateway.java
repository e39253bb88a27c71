package dev.tandemkv.benchmarks.gateway;

import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * W-GATEWAY: what the endpoint picker adds to a completion request with a text prompt, in bodies of 2 kB and 200 kB, on 64 workers. The
 * picker alone, driven in process; then behind a real Envoy, each request once through the picker and once on a route without it, in turn.
 * The tokenizer answers at once with a token for every four bytes, so that none is measured.
 */
public final class Gateway implements Workload {

    @Override
    public void measure(Run run, int repetitions) throws IOException, InterruptedException {
        Optional<Path> envoy = Envoy.binary();
        if (envoy.isEmpty()) {
            System.err.println(
                    "gateway: no Envoy (TANDEMKV_ENVOY names none, and none is on the path): measured in process only");
        }
        for (int bodyBytes : new int[] {2_000, 200_000}) {
            Run.Cell cell = run.cell("gateway", "completion " + bodyBytes + " B");
            cell.fact("through_envoy", envoy.isPresent());
            for (int r = 0; r < repetitions; r++) {
                InProcess.measure(cell, bodyBytes);
                if (envoy.isPresent()) {
                    ThroughEnvoy.measure(cell, bodyBytes, envoy.get());
                }
            }
        }
    }

    /** A completion request of exactly so many bytes. */
    static String body(int bytes) {
        String before = "{\"model\":\"m\",\"stream\":true,\"prompt\":\"";
        String after = "\"}";
        String text = "Where the cache is warm the answer comes first. ".repeat(bytes / 48 + 1);
        return before + text.substring(0, bytes - before.length() - after.length()) + after;
    }
}
