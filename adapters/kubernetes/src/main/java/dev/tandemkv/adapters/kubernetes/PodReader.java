package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes workers of pods: one for each pod and target port. A pod whose metadata cannot be read becomes a worker that is never scheduled
 * and says why; it spoils nothing for the others. Immutable.
 */
final class PodReader {

    private static final int MAX_PORT = 65_535;
    /** Each rank costs rows and a socket. */
    static final int MAX_RANKS = 1_024;

    private static final Set<String> NO_ROLE = Set.of("both", "prefill-decode");

    private final PodDefaults defaults;

    PodReader(PodDefaults defaults) {
        this.defaults = defaults;
    }

    /** The first 8 bytes of SHA-256 of a text. */
    static long hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** Ready, not about to end, and with an address. */
    static boolean isServing(Pod pod) {
        PodStatus status = pod.getStatus();
        return pod.getMetadata().getDeletionTimestamp() == null
                && status != null
                && status.getPodIP() != null
                && !status.getPodIP().isEmpty()
                && isReady(status.getConditions());
    }

    /** A server leaves out what is empty; what stands between it and us may write {@code null}, which must not cost the other pods. */
    private static boolean isReady(@Nullable List<PodCondition> conditions) {
        return conditions != null
                && conditions.stream()
                        .anyMatch(c -> c != null && "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
    }

    /**
     * The workers of one serving pod.
     *
     * @param ports target ports; with more than one, each is one data-parallel rank with a front of its own
     */
    List<WorkerSpec> read(Pod pod, List<Integer> ports) {
        List<WorkerSpec> workers = new ArrayList<>();
        for (int i = 0; i < ports.size(); i++) {
            PodMetadata said = new PodMetadata(pod);
            if (isActive(said, ports, i)) {
                workers.add(worker(
                        pod, said, ports.size() == 1 ? whole(pod, said, ports.get(0)) : rank(pod, said, ports, i)));
            }
        }
        return workers;
    }

    private static boolean isActive(PodMetadata said, List<Integer> ports, int position) {
        Set<String> named = said.list(PodNames.ACTIVE_PORTS);
        if (named.isEmpty()) {
            return true;
        }
        if (!ports.stream().map(String::valueOf).collect(Collectors.toSet()).containsAll(named)) {
            said.fault(PodNames.ACTIVE_PORTS, named, "target ports of " + ports);
            return true;
        }
        return named.contains(String.valueOf(ports.get(position)));
    }

    /** Where one worker of a pod listens, and which ranks it has; its id is the hash of the name. */
    private record Front(String name, int port, int startRank, int ranks) {}

    /** One front for all ranks of a pod. */
    private Front whole(Pod pod, PodMetadata said, int port) {
        Integer size = said.integer(PodNames.DATA_PARALLEL_SIZE, 1, MAX_RANKS);
        WorkerSpec template = defaults.template();
        return new Front(name(pod), port, template.startRank(), size == null ? template.rankCount() : size);
    }

    /** The front of one rank among others. */
    private static Front rank(Pod pod, PodMetadata said, List<Integer> ports, int rank) {
        Integer size = said.integer(PodNames.DATA_PARALLEL_SIZE, 1, MAX_RANKS);
        if (size != null && size != ports.size()) {
            said.fault(PodNames.DATA_PARALLEL_SIZE, size, ports.size() + ", one for each target port");
        }
        int port = ports.get(rank);
        return new Front(name(pod) + ':' + port, port, rank, 1);
    }

    private static String name(Pod pod) {
        ObjectMeta meta = pod.getMetadata();
        return meta.getNamespace() + '/' + meta.getName();
    }

    private WorkerSpec worker(Pod pod, PodMetadata said, Front front) {
        String host = host(pod);
        WorkerSpec.Builder worker = defaults.template().toBuilder()
                .workerId(hash(front.name))
                .incarnation(pod.getMetadata().getUid())
                .endpoint("http://" + host + ':' + front.port)
                .dataParallelStartRank(front.startRank)
                .dataParallelSize(front.ranks)
                .partition(partition(said))
                .taints(taints(said))
                .topologyDomains(topology(pod, said));
        capacities(said, worker);
        transfer(said, worker);
        eventEndpoints(said, front, host, worker);
        try {
            WorkerSpec read = worker.build();
            if (said.faults().isEmpty()) {
                return read;
            }
        } catch (BadRequestException e) {
            said.fault(e);
        }
        return unschedulable(pod, said, front);
    }

    private WorkerSpec unschedulable(Pod pod, PodMetadata said, Front front) {
        return WorkerSpec.builder(hash(front.name))
                .partition(defaults.template().partition())
                .incarnation(pod.getMetadata().getUid())
                .faults(said.faults())
                .build();
    }

    private static String host(Pod pod) {
        String address = pod.getStatus().getPodIP();
        return address.indexOf(':') < 0 ? address : '[' + address + ']';
    }

    private PartitionKey partition(PodMetadata said) {
        PartitionKey base = defaults.template().partition();
        String model = said.text(PodNames.MODEL_NAME);
        if (model != null && model.isBlank()) {
            said.fault(PodNames.MODEL_NAME, model, "a name");
        } else if (model != null) {
            base = new PartitionKey(model, base.routingGroup());
        }
        String label = said.label(defaults.roleLabel());
        if (label == null || NO_ROLE.contains(label)) {
            return base;
        }
        for (WorkerRole role : WorkerRole.values()) {
            if (role.label().equals(label)) {
                return defaults.partition(role, base);
            }
        }
        said.fault(defaults.roleLabel(), label, "prefill, decode, both or prefill-decode");
        return base;
    }

    private Set<String> taints(PodMetadata said) {
        Set<String> taints = new HashSet<>(defaults.template().taints());
        taints.addAll(said.list(PodNames.TAINTS));
        for (String name : defaults.taintLabels()) {
            String value = said.label(name);
            if (value != null) {
                taints.add(name + '=' + value);
            }
        }
        return taints;
    }

    private Map<String, String> topology(Pod pod, PodMetadata said) {
        Map<String, String> domains = new HashMap<>(defaults.template().topologyDomains());
        String node = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
        if (node != null && !node.isEmpty()) {
            domains.put(PodDefaults.NODE_DOMAIN, node);
        }
        defaults.topologyLabels().forEach((domain, name) -> {
            String value = said.label(name);
            if (value != null) {
                domains.put(domain, value);
            }
        });
        domains.putAll(said.pairs(PodNames.TOPOLOGY));
        return domains;
    }

    private static void capacities(PodMetadata said, WorkerSpec.Builder worker) {
        Integer blockSize = said.integer(PodNames.BLOCK_SIZE, 1, Integer.MAX_VALUE);
        if (blockSize != null) {
            worker.blockSize(blockSize);
        }
        Long blocks = said.number(PodNames.TOTAL_KV_BLOCKS, 1, Long.MAX_VALUE);
        if (blocks != null) {
            worker.totalKvBlocks(blocks);
        }
        Long tokens = said.number(PodNames.MAX_NUM_BATCHED_TOKENS, 1, Long.MAX_VALUE);
        if (tokens != null) {
            worker.maxNumBatchedTokens(tokens);
        }
        Boolean eagle = said.flag(PodNames.EAGLE);
        if (eagle != null) {
            worker.isEagle(eagle);
        }
    }

    private static void transfer(PodMetadata said, WorkerSpec.Builder worker) {
        String domain = said.text(PodNames.KV_TRANSFER_DOMAIN);
        if (domain != null) {
            worker.kvTransferDomain(domain);
        }
        String enforcement = said.text(PodNames.KV_TRANSFER_ENFORCEMENT);
        if (enforcement != null) {
            worker.kvTransferEnforcement(enforcement(said, enforcement));
        }
        Double weight = said.fraction(PodNames.KV_TRANSFER_PREFERRED_WEIGHT);
        if (weight != null) {
            worker.kvTransferPreferredWeight(weight);
        }
    }

    private static @Nullable KvTransferEnforcement enforcement(PodMetadata said, String text) {
        for (KvTransferEnforcement enforcement : KvTransferEnforcement.values()) {
            if (enforcement.wireName().equals(text)) {
                return enforcement;
            }
        }
        said.fault(PodNames.KV_TRANSFER_ENFORCEMENT, text, "required or preferred");
        return null;
    }

    private void eventEndpoints(PodMetadata said, Front front, String host, WorkerSpec.Builder worker) {
        Integer ownPort = said.integer(PodNames.EVENT_PORT, 1, MAX_PORT);
        Integer ownStride = said.integer(PodNames.EVENT_PORT_STRIDE, 1, MAX_PORT);
        Integer port = ownPort == null ? defaults.eventPort() : ownPort;
        int stride = ownStride == null ? defaults.eventPortStride() : ownStride;
        Map<Integer, String> byRank = new HashMap<>();
        if (port != null) {
            for (int rank = front.startRank; rank < front.startRank + front.ranks; rank++) {
                byRank.put(rank, endpoint(said, PodNames.EVENT_PORT, host, port + (long) rank * stride));
            }
        }
        worker.kvEventsEndpoints(byRank);
        Integer ownReplay = said.integer(PodNames.REPLAY_PORT, 1, MAX_PORT);
        // A worker has one replay endpoint, so the default is for workers of one rank; a pod's own is taken at its
        // word.
        Integer replay = ownReplay == null && front.ranks == 1 ? defaults.replayPort() : ownReplay;
        if (replay != null) {
            worker.replayEndpoint(endpoint(said, PodNames.REPLAY_PORT, host, replay + (long) front.startRank * stride));
        }
    }

    private static String endpoint(PodMetadata said, String name, String host, long port) {
        if (port > MAX_PORT) {
            said.fault(name, port, "at most " + MAX_PORT + " for every rank");
        }
        return "tcp://" + host + ':' + port;
    }
}
