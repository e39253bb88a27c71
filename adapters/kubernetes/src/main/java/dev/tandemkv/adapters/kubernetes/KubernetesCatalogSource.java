package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.catalog.source.SourceObserver;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.catalog.time.Scheduler;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods of a label selector, or of an {@code InferencePool}, that are ready, not terminating and have an address; each is a worker
 * whose id is a stable hash of namespace and pod name and whose incarnation is the pod's uid. What a pod's labels and annotations say of
 * its worker is listed in {@link PodNames}; what they do not say comes from the builder. A pod with a label or annotation that cannot be
 * read is a worker that is never scheduled, with the reasons as {@link WorkerSpec#faults()}.
 *
 * <p>Nothing is asked of the server before the first question. From then on the pods are watched, changes that come close together are
 * one snapshot, and what cannot be learned leaves the last good state in place: it fails the question while nothing was answered yet, and
 * is told to the observer afterwards. The client tries again with its own backoff, and a watch that stays lost is begun anew.
 *
 * <p>A pool that does not exist yet is waited for. Once it was there and is deleted, the source answers one empty membership and is
 * closed, also where another pool has taken the name.
 *
 * <p>Thread-safe. The client is the caller's, who closes it after the source; its threads do the waiting, and all else runs on the
 * scheduler.
 */
public final class KubernetesCatalogSource implements WorkerCatalogSource {

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesCatalogSource.class);

    /** What is told of a pool's content, beside what is told of reading it. */
    private static final String DEFINITION = "definition";

    /** How many different problems of one outage are told. */
    private static final int MOST_TOLD = 8;

    private final KubernetesClient client;
    private final String namespace;
    private final @Nullable String poolName;
    private final InferencePoolApi poolApi;
    private final PodReader reader;
    private final Duration burst;
    private final Duration checkPeriod;
    private final SourceObserver observer;

    private final Answers answers = new Answers();
    private final Following<GenericKubernetesResource> pool = new Following<>(this::changed);
    private final Following<Pod> pods = new Following<>(this::changed);
    private final Wake look;
    private final Wake check;
    private final AtomicBoolean checkDue = new AtomicBoolean();
    private volatile boolean started;

    // Touched by looks alone.
    private @Nullable PodTargets targets;
    private boolean begun;
    private @Nullable String poolUid;
    private final Map<String, Set<String>> told = new HashMap<>();

    private KubernetesCatalogSource(Builder builder) {
        client = builder.client;
        namespace = builder.namespace;
        poolName = builder.poolName;
        poolApi = builder.poolApi;
        targets = builder.targets;
        reader = new PodReader(builder.defaults());
        burst = builder.burst;
        checkPeriod = builder.checkPeriod;
        observer = builder.observer;
        look = new Wake(builder.scheduler, this::look);
        check = new Wake(builder.scheduler, this::check);
    }

    /**
     * The pods of one namespace that have all of these labels.
     *
     * @param client asked for nothing but to list and watch pods
     * @param labels at least one; none would be every pod of the namespace
     * @param port where the workers take requests
     * @throws BadRequestException if there is no label, or the port is not in 1..65535
     */
    public static Builder ofPods(
            KubernetesClient client, Scheduler scheduler, String namespace, Map<String, String> labels, int port) {
        return new Builder(client, scheduler, namespace, null, new PodTargets(labels, List.of(port)));
    }

    /**
     * The pods that an {@code InferencePool} selects, in the pool's namespace. A pool with several target ports has one worker for each
     * pod and port: one data-parallel rank with a front of its own, whose id hashes the port too.
     *
     * @param client asked for nothing but to list and watch the pool and pods
     */
    public static Builder ofPool(KubernetesClient client, Scheduler scheduler, String namespace, String name) {
        return new Builder(client, scheduler, namespace, Objects.requireNonNull(name, "name"), null);
    }

    /** The id of a pod's worker: the first 8 bytes of SHA-256 of {@code namespace/name}. */
    public static long workerId(String namespace, String podName) {
        return PodReader.hash(namespace + '/' + podName);
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        CompletionStage<Optional<CatalogSnapshot>> answer = answers.ask();
        if (!started) {
            look.in(Duration.ZERO);
            started = true;
        }
        return answer;
    }

    @Override
    public void close() {
        answers.close();
        stop();
    }

    private void stop() {
        look.close();
        check.close();
        pool.close();
        pods.close();
    }

    private void changed() {
        look.in(answers.hasAnswered() ? burst : Duration.ZERO);
    }

    private void check() {
        checkDue.set(true);
        look.in(Duration.ZERO);
        check.in(checkPeriod);
    }

    // ---- looking at what the informers know, one look at a time

    private void look() {
        if (!begun) {
            begun = true;
            begin();
        }
        if (checkDue.getAndSet(false)) {
            checkWatch(pool);
            checkWatch(pods);
        }
        if (poolName != null) {
            lookAtPool(poolName);
        }
        lookAtPods();
    }

    private void begin() {
        if (poolName != null) {
            pool.follow(
                    "inferencepool " + namespace + '/' + poolName,
                    client.genericKubernetesResources(poolApi.resource())
                            .inNamespace(namespace)
                            .withName(poolName));
        } else if (targets != null) {
            followPods(targets);
        }
        check.in(checkPeriod);
    }

    private void followPods(PodTargets wanted) {
        told.remove(pods.name());
        pods.follow(
                "pods of " + namespace + " with " + new TreeMap<>(wanted.labels()),
                client.pods().inNamespace(namespace).withLabels(wanted.labels()));
    }

    private void lookAtPool(String name) {
        tell(pool);
        List<GenericKubernetesResource> items = pool.items().orElse(null);
        if (items == null) {
            return;
        }
        String uid = items.isEmpty() ? null : items.get(0).getMetadata().getUid();
        if (poolUid != null && !poolUid.equals(uid)) {
            LOG.warn("The inference pool {}/{} is deleted: its source closes", namespace, name);
            answers.end();
            stop();
        } else if (uid == null) {
            report(DEFINITION, new SourceException(namespace + '/' + name, "there is no such inference pool", null));
        } else {
            poolUid = uid;
            define(name, items.get(0));
        }
    }

    /** A definition that cannot be read leaves the one before in place. */
    private void define(String name, GenericKubernetesResource item) {
        PodTargets wanted;
        try {
            wanted = PodTargets.of(item, poolApi);
        } catch (BadRequestException e) {
            report(DEFINITION, new SourceException(namespace + '/' + name, String.valueOf(e.getMessage()), e));
            return;
        }
        told.remove(DEFINITION);
        boolean otherPods = targets == null || !targets.labels().equals(wanted.labels());
        targets = wanted;
        if (otherPods) {
            followPods(wanted);
        }
    }

    private void lookAtPods() {
        tell(pods);
        PodTargets present = targets;
        List<Pod> items = pods.items().orElse(null);
        if (present != null && items != null) {
            answers.offer(new CatalogSnapshot(workers(items, present)));
        }
    }

    private List<WorkerSpec> workers(List<Pod> items, PodTargets present) {
        List<WorkerSpec> workers = new ArrayList<>();
        items.stream()
                .filter(PodReader::isServing)
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                .forEach(pod -> workers.addAll(reader.read(pod, present.ports())));
        return workers;
    }

    // ---- what cannot be learned

    /** A failure of what is known already, such as a watch that is not allowed, fails no question. */
    private void tell(Following<?> followed) {
        SourceException failure = followed.takeFailure();
        if (failure == null) {
            if (followed.isWatching()) {
                told.remove(followed.name());
            }
        } else if (followed.items().isPresent() || !answers.failFirst(failure)) {
            report(followed.name(), failure);
        }
    }

    private void checkWatch(Following<?> followed) {
        if (followed.check() && !told.containsKey(followed.name())) {
            report(followed.name(), new SourceException(followed.name(), "not watched at present", null));
        }
    }

    /** Once for each new problem, not again while it lasts. */
    private void report(String about, SourceException problem) {
        String message = String.valueOf(problem.getMessage());
        Set<String> before = told.computeIfAbsent(about, key -> new HashSet<>());
        if (before.size() >= MOST_TOLD || !before.add(message)) {
            return;
        }
        LOG.warn("The last good membership stands: {}", message);
        try {
            observer.onProblem(problem);
        } catch (RuntimeException e) {
            LOG.warn("A source observer failed", e);
        }
    }

    /** Collects what the source needs; not thread-safe. */
    public static final class Builder {
        private static final int MAX_PORT = 65_535;

        private final KubernetesClient client;
        private final Scheduler scheduler;
        private final String namespace;
        private final @Nullable String poolName;
        private final @Nullable PodTargets targets;
        private InferencePoolApi poolApi = InferencePoolApi.V1;
        private WorkerSpec template = WorkerSpec.builder(0).build();
        private @Nullable Integer eventPort;
        private int eventPortStride = 1;
        private @Nullable Integer replayPort;
        private String roleLabel = PodNames.ROLE;
        private final Map<WorkerRole, PartitionKey> rolePartitions = new EnumMap<>(WorkerRole.class);
        private final Set<String> taintLabels = new HashSet<>();
        private final Map<String, String> topologyLabels =
                new HashMap<>(Map.of("zone", PodNames.ZONE, "region", PodNames.REGION));
        private Duration burst = Duration.ofMillis(200);
        private Duration checkPeriod = Duration.ofSeconds(5);
        private SourceObserver observer = problem -> {};

        private Builder(
                KubernetesClient client,
                Scheduler scheduler,
                String namespace,
                @Nullable String poolName,
                @Nullable PodTargets targets) {
            this.client = Objects.requireNonNull(client, "client");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            this.namespace = Objects.requireNonNull(namespace, "namespace");
            this.poolName = poolName;
            this.targets = targets;
        }

        /** Which version of the pool's resource is read; default {@link InferencePoolApi#V1}. */
        public Builder poolApi(InferencePoolApi poolApi) {
            this.poolApi = poolApi;
            return this;
        }

        /**
         * What a pod's worker has where the pod does not say otherwise: everything but id, incarnation and endpoints. Taints and topology
         * domains of a pod are added to the template's. Default: nothing, so that a pod without annotations is not schedulable.
         *
         * @throws BadRequestException if it has more than 1024 ranks, a first rank above 65535, or endpoints of ranks
         */
        public Builder template(WorkerSpec template) {
            if (template.startRank() < 0 || template.startRank() > MAX_PORT) {
                throw new BadRequestException(
                        "data_parallel_start_rank",
                        Integer.toUnsignedString(template.startRank()),
                        "at most " + MAX_PORT);
            }
            if (Integer.compareUnsigned(template.rankCount(), PodReader.MAX_RANKS) > 0) {
                throw new BadRequestException(
                        "data_parallel_size",
                        Integer.toUnsignedString(template.rankCount()),
                        "at most " + PodReader.MAX_RANKS);
            }
            if (!template.routerHintSourceControlEndpoints().isEmpty()) {
                throw new BadRequestException(
                        "router_hint_source_control_endpoints",
                        template.routerHintSourceControlEndpoints(),
                        "none in a template");
            }
            this.template = template;
            return this;
        }

        /**
         * Where rank r publishes KV events: port + r x stride. Default: nowhere.
         *
         * @throws BadRequestException if the port is not in 1..65535 or the stride is below 1
         */
        public Builder eventPorts(int port, int stride) {
            this.eventPort = requirePort("event_port", port);
            if (stride < 1) {
                throw new BadRequestException("event_port_stride", stride, ">= 1");
            }
            this.eventPortStride = stride;
            return this;
        }

        /**
         * Where workers with one rank answer replays; in a pool with several target ports the port of rank 0, with the stride of the event
         * ports. A worker has one replay endpoint, so this says nothing of workers with several ranks. Default: nowhere.
         *
         * @throws BadRequestException if the port is not in 1..65535
         */
        public Builder replayPort(int port) {
            this.replayPort = requirePort("replay_port", port);
            return this;
        }

        /** The label that tells a pod's role; default {@link PodNames#ROLE}. */
        public Builder roleLabel(String name) {
            this.roleLabel = Objects.requireNonNull(name, "name");
            return this;
        }

        /** Where pods of a role belong. Default: the routing group of the role's name ({@code prefill}, {@code decode}), of the pod's model. */
        public Builder rolePartition(WorkerRole role, PartitionKey partition) {
            rolePartitions.put(role, Objects.requireNonNull(partition, "partition"));
            return this;
        }

        /** Labels that become taints, as {@code name=value}; default none. */
        public Builder taintLabels(Set<String> names) {
            taintLabels.clear();
            taintLabels.addAll(names);
            return this;
        }

        /**
         * A label that tells a topology domain. Default: {@code zone} and {@code region} from {@link PodNames#ZONE} and {@link
         * PodNames#REGION}; {@code node}, the node's name, needs none.
         */
        public Builder topologyLabel(String domain, String name) {
            topologyLabels.put(Objects.requireNonNull(domain, "domain"), Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * How long changes are collected into one snapshot; default 200 ms.
         *
         * @throws BadRequestException if negative
         */
        public Builder burst(Duration burst) {
            if (burst.isNegative()) {
                throw new BadRequestException("burst", burst, ">= 0");
            }
            this.burst = burst;
            return this;
        }

        /**
         * How often it is looked whether the watches stand; default 5 s. A watch that is lost for two looks is a problem; after six it is
         * begun anew, and from then on each time after twice as many, up to sixty.
         *
         * @throws BadRequestException unless above 0
         */
        public Builder checkPeriod(Duration checkPeriod) {
            if (checkPeriod.isNegative() || checkPeriod.isZero()) {
                throw new BadRequestException("check_period", checkPeriod, "above 0");
            }
            this.checkPeriod = checkPeriod;
            return this;
        }

        /** Default: problems are only logged. */
        public Builder observer(SourceObserver observer) {
            this.observer = Objects.requireNonNull(observer, "observer");
            return this;
        }

        /** @throws BadRequestException if the last rank's event port would be beyond 65535 */
        public KubernetesCatalogSource build() {
            if (eventPort != null) {
                long last = eventPort + (template.startRank() + template.rankCount() - 1L) * eventPortStride;
                if (last > MAX_PORT) {
                    throw new BadRequestException("event_port", last, "1..65535 for the last rank");
                }
            }
            return new KubernetesCatalogSource(this);
        }

        private PodDefaults defaults() {
            return new PodDefaults(
                    template,
                    eventPort,
                    eventPortStride,
                    replayPort,
                    roleLabel,
                    rolePartitions,
                    taintLabels,
                    topologyLabels);
        }

        private static int requirePort(String field, int port) {
            if (port < 1 || port > MAX_PORT) {
                throw new BadRequestException(field, port, "1..65535");
            }
            return port;
        }
    }
}
