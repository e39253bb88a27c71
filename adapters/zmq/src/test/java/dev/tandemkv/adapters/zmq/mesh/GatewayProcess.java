package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.catalog.WorkerRank;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** A gateway as a process: takes one command a line, answers each with one line, and ends with its input. */
final class GatewayProcess {

    private GatewayProcess() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (Gateway gateway = new Gateway();
                BufferedReader commands =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            answers.println(gateway.mesh.endpoint());
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                answers.println(answer(gateway, line.split(" ")));
            }
        }
    }

    private static String answer(Gateway gateway, String[] command) {
        return switch (command[0]) {
            case "peer" -> String.valueOf(gateway.replica.core().registerPeer(command[1]));
            case "heard" -> {
                gateway.await(() -> gateway.mesh.stats().joined() >= 2);
                yield "heard";
            }
            case "book" ->
                String.valueOf(gateway.replica.book(command[1], command[2]).workerId());
            case "look" ->
                String.valueOf(gateway.replica.look(command[1], command[2]).workerId());
            case "sticks" -> {
                WorkerRank bound = WorkerRank.of(Long.parseLong(command[2]));
                gateway.await(() -> gateway.replica.look("prompt", command[1]).equals(bound));
                yield "sticks";
            }
            case "close" -> {
                gateway.replica.free(command[1]);
                yield "closed";
            }
            case "free" ->
                gateway.replica
                        .core()
                        .free(command[1])
                        .toCompletableFuture()
                        .join()
                        .name();
            case "await" -> {
                gateway.awaitCount(Integer.parseInt(command[1]));
                yield "reached";
            }
            default -> throw new IllegalArgumentException(command[0]);
        };
    }
}
