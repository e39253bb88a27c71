package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.testkit.replica.ReplicaGateway;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jgroups.Address;
import org.jgroups.PhysicalAddress;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;

/**
 * A gateway as a process: takes one command a line, answers each with one line, and ends with its input. Its arguments are the name of the
 * group and the orphan timeout in milliseconds; the first command is to join those who listen at the ports it names.
 */
final class GatewayProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final DISCARD network = new DISCARD();
    private final ReplicaGroup group;
    private final ReplicaGateway gateway;
    private final BookingLoad load;
    /** By its port, each member that was in a view when one was waited for; that one of them is missing for a moment does no harm. */
    private final Map<String, Address> seen = new HashMap<>();

    private GatewayProcess(String cluster, Duration orphans, InetSocketAddress... others) throws Exception {
        group = ReplicaGroup.join(GroupNetwork.quick(cluster, others)
                .suspectAfter(Duration.ofSeconds(1))
                .mergeEvery(GroupNetwork.MERGING)
                .build());
        group.channel().stack().insertProtocolInStack(network, transport(), ProtocolStack.Position.ABOVE);
        network.setAddress(group.channel().address());
        gateway = new ReplicaGateway(group, Scheduler.of(timers), orphans);
        load = new BookingLoad(gateway, String.valueOf(group.address().getPort()));
    }

    private TP transport() {
        return group.channel().stack().getTransport();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String join = commands.readLine();
        if (join == null) {
            return;
        }
        InetSocketAddress[] others = Arrays.stream(join.split(" "))
                .skip(1)
                .map(GatewayProcess::loopback)
                .toArray(InetSocketAddress[]::new);
        Duration orphans = Duration.ofMillis(Long.parseLong(arguments[1]));
        try (GatewayProcess process = new GatewayProcess(arguments[0], orphans, others)) {
            answers.println(process.group.address().getPort());
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                answers.println(process.answer(line.split(" ")));
            }
        }
    }

    private static InetSocketAddress loopback(String port) {
        return new InetSocketAddress(GroupNetwork.anyPort().getAddress(), Integer.parseInt(port));
    }

    private String answer(String[] command) {
        try {
            return switch (command[0]) {
                case "members" -> members(Integer.parseInt(command[1]));
                case "book" ->
                    String.valueOf(gateway.book(command[1], command[2], allowed(command))
                            .workerId());
                case "sticks" -> await(() -> look(command).equals(command[2]));
                case "look" -> look(command);
                case "free" -> done(() -> gateway.free(command[1]));
                case "freeAll" -> done(gateway::freeAll);
                case "counted" -> await(() -> gateway.counted() == Integer.parseInt(command[1]));
                case "load" -> done(load::start);
                case "stop" -> load.stop();
                case "booked" -> String.valueOf(gateway.core().stats().booked());
                case "dropped" -> String.valueOf(group.stats().dropped());
                case "cut" -> cut(List.of(command).subList(1, command.length));
                case "heal" -> done(network::resetIgnoredMembers);
                default -> throw new IllegalArgumentException(command[0]);
            };
        } catch (RuntimeException | AssertionError e) {
            return "failed: " + e;
        }
    }

    private static Set<Long> allowed(String[] command) {
        return Arrays.stream(command).skip(3).map(Long::valueOf).collect(Collectors.toSet());
    }

    private static String done(Runnable work) {
        work.run();
        return "done";
    }

    private String await(BooleanSupplier condition) {
        boolean reached = gateway.comesTrue(condition, PATIENCE);
        return reached ? "reached" : "not reached: counts " + gateway.counted() + ", in " + group.members();
    }

    private String look(String[] command) {
        return String.valueOf(gateway.look("prompt", command[1]).workerId());
    }

    private String members(int expected) {
        return await(() -> group.stats().members() == expected);
    }

    /** Hears nothing of the members at these ports any more. */
    private String cut(List<String> ports) {
        // Where a member listens may be learnt a little after that it is one.
        String known = await(() -> {
            lookAtMembers();
            return seen.keySet().containsAll(ports);
        });
        ports.stream().map(seen::get).filter(Objects::nonNull).forEach(network::addIgnoreMember);
        return known;
    }

    private void lookAtMembers() {
        for (Address member : group.channel().view().getMembers()) {
            PhysicalAddress at = transport().getPhysicalAddressFromCache(member);
            if (at != null) {
                seen.put(at.printIpAddress().replaceAll(".*:", ""), member);
            }
        }
    }

    @Override
    public void close() {
        gateway.close();
        group.close();
        timers.shutdownNow();
    }
}
