package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.SelectionCore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads a core's catalog; stateless. */
final class CoreEndpoints implements PoolEndpoints {

    private final SelectionCore core;
    private final PartitionKey partition;

    CoreEndpoints(SelectionCore core, PartitionKey partition) {
        this.core = Objects.requireNonNull(core, "core");
        this.partition = Objects.requireNonNull(partition, "partition");
    }

    @Override
    public @Nullable String address(WorkerRank rank) {
        return core.find(rank.workerId())
                .filter(this::takesRequests)
                .filter(worker -> holds(worker.spec(), rank))
                .map(worker -> hostAndPort(worker.spec().endpoint()))
                .orElse(null);
    }

    @Override
    public Set<Long> workersAt(Set<String> addresses) {
        Set<Long> found = new HashSet<>();
        schedulable().forEach(worker -> {
            String address = hostAndPort(worker.spec().endpoint());
            if (address != null && addresses.contains(address)) {
                found.add(worker.workerId());
            }
        });
        return found;
    }

    @Override
    public List<WorkerRank> ready() {
        List<WorkerRank> ranks = new ArrayList<>();
        schedulable().forEach(worker -> {
            for (int i = 0; i < worker.spec().rankCount(); i++) {
                ranks.add(new WorkerRank(worker.workerId(), worker.spec().startRank() + i));
            }
        });
        return ranks;
    }

    private Stream<WorkerRecord> schedulable() {
        return core.list().stream().filter(this::takesRequests);
    }

    private boolean takesRequests(WorkerRecord worker) {
        return worker.isSchedulable() && worker.spec().partition().equals(partition);
    }

    private static boolean holds(WorkerSpec spec, WorkerRank rank) {
        return Integer.compareUnsigned(rank.rank() - spec.startRank(), spec.rankCount()) < 0;
    }

    /** What a proxy connects to: an endpoint without scheme and path, with the scheme's port where it has none. */
    static @Nullable String hostAndPort(@Nullable String endpoint) {
        if (endpoint == null) {
            return null;
        }
        int scheme = endpoint.indexOf("://");
        String rest = scheme < 0 ? endpoint : endpoint.substring(scheme + 3);
        int end = rest.length();
        for (char stop : new char[] {'/', '?', '#'}) {
            int at = rest.indexOf(stop);
            end = at < 0 ? end : Math.min(end, at);
        }
        String authority = bracketed(rest.substring(rest.lastIndexOf('@', end - 1) + 1, end));
        boolean portNamed = authority.lastIndexOf(':') > authority.lastIndexOf(']');
        if (portNamed || scheme < 0) {
            return authority;
        }
        return authority + (endpoint.regionMatches(true, 0, "https", 0, 5) ? ":443" : ":80");
    }

    /** An IPv6 address that somebody wrote bare has more than one colon and no port. */
    private static String bracketed(String authority) {
        boolean bare = !authority.startsWith("[") && authority.indexOf(':') != authority.lastIndexOf(':');
        return bare ? '[' + authority + ']' : authority;
    }
}
