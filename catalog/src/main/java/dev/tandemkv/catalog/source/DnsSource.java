package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Scheduler;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One worker for each address behind a DNS name, as a headless service has them. The id of a worker is a stable hash of its address and
 * port, so that every router gives it the same one and a restart changes nothing; everything else comes from a template.
 *
 * <p>A failed lookup changes nothing; a lookup that answers no address is an empty membership.
 */
public final class DnsSource implements WorkerCatalogSource {

    private static final int MAX_PORT = 65_535;

    private final String name;
    private final int port;
    private final WorkerSpec template;
    private final @Nullable Integer eventPort;
    private final int eventPortStride;
    private final DnsResolver resolver;
    private final Polling polling;

    private DnsSource(Builder builder) {
        name = builder.name;
        port = builder.port;
        template = builder.template;
        eventPort = builder.eventPort;
        eventPortStride = builder.eventPortStride;
        resolver = builder.resolver;
        polling = new Polling(name, builder.scheduler, builder.period, this::lookUp, builder.observer);
    }

    /**
     * @param name the name to look up
     * @param port where the workers take requests
     * @param resolver for example {@link DnsResolver#jdk}
     * @throws BadRequestException if the port is not in 1..65535
     */
    public static Builder builder(String name, int port, DnsResolver resolver, Scheduler scheduler) {
        return new Builder(name, port, resolver, scheduler);
    }

    /** The id that a worker at this address and port has: the first 8 bytes of SHA-256 of {@code address:port}. */
    public static long workerId(InetAddress address, int port) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(hostAndPort(address, port).getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private static String hostAndPort(InetAddress address, int port) {
        String text = address.getHostAddress();
        if (address instanceof Inet6Address) {
            // A scope names a local interface, which is nobody else's business.
            int scope = text.indexOf('%');
            text = '[' + (scope < 0 ? text : text.substring(0, scope)) + ']';
        }
        return text + ':' + port;
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        return polling.nextSnapshot();
    }

    @Override
    public void close() {
        polling.close();
    }

    private CompletionStage<CatalogSnapshot> lookUp() {
        return resolver.resolve(name).thenApply(addresses -> {
            List<WorkerSpec> workers = new ArrayList<>();
            Map<Long, InetAddress> seen = new HashMap<>();
            for (InetAddress address : addresses) {
                if (seen.put(workerId(address, port), address) == null) {
                    workers.add(workerAt(address));
                }
            }
            return new CatalogSnapshot(workers);
        });
    }

    private WorkerSpec workerAt(InetAddress address) {
        return template.toBuilder()
                .workerId(workerId(address, port))
                .endpoint("http://" + hostAndPort(address, port))
                .kvEventsEndpoints(eventEndpoints(address))
                .build();
    }

    private Map<Integer, String> eventEndpoints(InetAddress address) {
        Map<Integer, String> byRank = new HashMap<>();
        if (eventPort != null) {
            for (int i = 0; i < template.rankCount(); i++) {
                byRank.put(template.startRank() + i, "tcp://" + hostAndPort(address, eventPort + i * eventPortStride));
            }
        }
        return byRank;
    }

    /** Collects what the source needs; not thread-safe. */
    public static final class Builder {
        private final String name;
        private final int port;
        private final DnsResolver resolver;
        private final Scheduler scheduler;
        private WorkerSpec template = WorkerSpec.builder(0).build();
        private @Nullable Integer eventPort;
        private int eventPortStride = 1;
        private Duration period = Duration.ofSeconds(5);
        private SourceObserver observer = problem -> {};

        private Builder(String name, int port, DnsResolver resolver, Scheduler scheduler) {
            this.name = Objects.requireNonNull(name, "name");
            this.port = requirePort("port", port);
            this.resolver = Objects.requireNonNull(resolver, "resolver");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Everything but id, endpoint and event endpoints. Default: a worker without metadata, which is never schedulable. */
        public Builder template(WorkerSpec template) {
            this.template = template;
            return this;
        }

        /**
         * Where rank r publishes KV events: port + r x stride. Default: nowhere.
         *
         * @throws BadRequestException if the port is not in 1..65535 or the stride is below 1
         */
        public Builder eventPorts(int eventPort, int stride) {
            this.eventPort = requirePort("event_port", eventPort);
            if (stride < 1) {
                throw new BadRequestException("event_port_stride", stride, ">= 1");
            }
            this.eventPortStride = stride;
            return this;
        }

        /**
         * How often the name is looked up; default 5 s.
         *
         * @throws BadRequestException unless above 0
         */
        public Builder period(Duration period) {
            this.period = Periods.requirePositive("period", period);
            return this;
        }

        /** Default: problems are only logged. */
        public Builder observer(SourceObserver observer) {
            this.observer = observer;
            return this;
        }

        /** @throws BadRequestException if the last rank's event port would be beyond 65535 */
        public DnsSource build() {
            if (eventPort != null) {
                long last = eventPort + (Integer.toUnsignedLong(template.rankCount()) - 1) * eventPortStride;
                if (last > MAX_PORT) {
                    throw new BadRequestException("event_port", last, "1..65535 for the last rank");
                }
            }
            return new DnsSource(this);
        }

        private static int requirePort(String field, int port) {
            if (port < 1 || port > MAX_PORT) {
                throw new BadRequestException(field, port, "1..65535");
            }
            return port;
        }
    }
}
