package dev.tandemkv.selection;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.explain.DecisionLog;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.CoreParts;
import dev.tandemkv.selection.internal.RolePolicies;
import dev.tandemkv.selection.policy.PolicyRegistry;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Describes a {@link SelectionCore}. Not thread-safe. Only the scheduler has no default. */
public final class SelectionCoreBuilder {

    private SelectionConfig config = SelectionConfig.DEFAULTS;
    private SelectionHost host = SelectionHost.STANDALONE;
    private Ticker ticker = Ticker.system();
    private Clock clock = Clock.systemUTC();
    private @Nullable Scheduler scheduler;
    private @Nullable RandomGenerator random;
    private @Nullable Executor executor;
    private @Nullable DecisionLog decisionLog;
    private SourceTraits eventSources = SourceTraits.DEFAULT;
    private PolicyRegistry registry = PolicyRegistry.standard();
    private Function<PartitionKey, Role> roles = key -> Role.AGGREGATED;
    private final Map<Role, SelectionPolicy> policies = new EnumMap<>(Role.class);
    private @Nullable SelectionPolicy policyOfOthers;
    private final List<SelectionObserver> observers = new ArrayList<>();

    SelectionCoreBuilder() {}

    /** Default {@link SelectionConfig#DEFAULTS}. */
    public SelectionCoreBuilder config(SelectionConfig settings) {
        config = Objects.requireNonNull(settings, "settings");
        return this;
    }

    /** Default {@link SelectionHost#STANDALONE}. */
    public SelectionCoreBuilder host(SelectionHost ports) {
        host = Objects.requireNonNull(ports, "ports");
        return this;
    }

    /** Monotonic time. Default the JVM's. */
    public SelectionCoreBuilder ticker(Ticker time) {
        ticker = Objects.requireNonNull(time, "time");
        return this;
    }

    /** Wall time, for what is replicated or logged. Default UTC. */
    public SelectionCoreBuilder clock(Clock wall) {
        clock = Objects.requireNonNull(wall, "wall");
        return this;
    }

    /** Runs what happens by time alone: leases that end, requests that stop waiting, lost handles that are found. Required. */
    public SelectionCoreBuilder scheduler(Scheduler later) {
        scheduler = Objects.requireNonNull(later, "later");
        return this;
    }

    /** Decides ties, samples, generates ids. Two cores with equal seeds and equal calls decide alike. Default: seeded by the time. */
    public SelectionCoreBuilder random(RandomGenerator generator) {
        random = Objects.requireNonNull(generator, "generator");
        return this;
    }

    /** Where stages that had to wait are completed, and observers told. What it refuses runs as by default: on the thread that ended the wait. */
    public SelectionCoreBuilder executor(Executor completions) {
        executor = Objects.requireNonNull(completions, "completions");
        return this;
    }

    /** What the engines' event sources are known to do. Default {@link SourceTraits#DEFAULT}. */
    public SelectionCoreBuilder eventSources(SourceTraits traits) {
        eventSources = Objects.requireNonNull(traits, "traits");
        return this;
    }

    /**
     * How workers are chosen, whatever their role, unless their role has a policy of its own. Default: what the configuration names, else
     * the built-in cost.
     */
    public SelectionCoreBuilder policy(SelectionPolicy policy) {
        policyOfOthers = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /** How the workers of one role are chosen, whatever is said of all. */
    public SelectionCoreBuilder policy(Role role, SelectionPolicy policy) {
        policies.put(role, Objects.requireNonNull(policy, "policy"));
        return this;
    }

    /** The policies that the configuration can name. Default {@link PolicyRegistry#standard}. */
    public SelectionCoreBuilder policyRegistry(PolicyRegistry named) {
        registry = Objects.requireNonNull(named, "named");
        return this;
    }

    /** What the workers of every partition do. Default {@link Role#AGGREGATED}. */
    public SelectionCoreBuilder role(Role role) {
        Objects.requireNonNull(role, "role");
        return roles(key -> role);
    }

    /** What the workers of each partition do; asked once for each. */
    public SelectionCoreBuilder roles(Function<PartitionKey, Role> byPartition) {
        roles = Objects.requireNonNull(byPartition, "byPartition");
        return this;
    }

    /** Where decisions are written, as often as the log wants. The host drains it. Default nowhere. */
    public SelectionCoreBuilder decisionLog(DecisionLog log) {
        decisionLog = Objects.requireNonNull(log, "log");
        return this;
    }

    /** Adds an observer. Default none. */
    public SelectionCoreBuilder observer(SelectionObserver observer) {
        observers.add(Objects.requireNonNull(observer, "observer"));
        return this;
    }

    /** Settings and ports that have no effect beside the others, each with the reason; {@link #build} warns of them. */
    public List<String> withoutEffect() {
        return CoreParts.withoutEffect(config, host);
    }

    /** @throws BadRequestException if there is no scheduler, or a setting cannot be carried out */
    public SelectionCore build() {
        if (scheduler == null) {
            throw new BadRequestException(
                    "scheduler", "none", "a Scheduler: bookings, waits and sessions end by time alone");
        }
        Map<Role, SelectionPolicy> byRole = new EnumMap<>(Role.class);
        for (Role role : Role.values()) {
            SelectionPolicy own = policies.getOrDefault(role, policyOfOthers);
            if (own != null) {
                byRole.put(role, own);
            }
        }
        RandomGenerator source = random == null ? new SeededRandom(ticker.read() ^ clock.millis()) : random;
        return new SelectionCore(CoreParts.assemble(
                config,
                host,
                ticker,
                clock,
                scheduler,
                source,
                executor,
                SelectionObserver.all(observers),
                eventSources,
                new RolePolicies(config, registry, roles, byRole),
                decisionLog));
    }
}
