package dev.tandemkv.selection.config;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.affinity.RebindMoment;
import dev.tandemkv.catalog.BadRequestException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Collects the settings; not thread-safe. Defaults are those of the groups' records; a setting is described there. */
public final class SelectionConfigBuilder {
    private final ScoringConfig.Draft scoring;
    private final TrackingConfig.Draft tracking;
    private final IndexConfig.Draft index;
    private final QueueConfig.Draft queue;
    private final DisaggConfig.Draft disaggregation;
    private final SessionConfig.Draft sessions;
    private final LifetimeConfig.Draft lifetimes;
    private WorkerSelection workerSelection = WorkerSelection.BUILT_IN;
    private boolean replicaSync;
    private int minInitialWorkers;
    private boolean skipInitialWorkerWait;

    SelectionConfigBuilder() {
        scoring = new ScoringConfig.Draft();
        tracking = new TrackingConfig.Draft();
        index = new IndexConfig.Draft();
        queue = new QueueConfig.Draft();
        disaggregation = new DisaggConfig.Draft();
        sessions = new SessionConfig.Draft();
        lifetimes = new LifetimeConfig.Draft();
    }

    SelectionConfigBuilder(SelectionConfig c) {
        scoring = new ScoringConfig.Draft(c.scoring());
        tracking = new TrackingConfig.Draft(c.tracking());
        index = new IndexConfig.Draft(c.index());
        queue = new QueueConfig.Draft(c.queue());
        disaggregation = new DisaggConfig.Draft(c.disaggregation());
        sessions = new SessionConfig.Draft(c.sessions());
        lifetimes = new LifetimeConfig.Draft(c.lifetimes());
        workerSelection = c.workerSelection();
        replicaSync = c.replicaSync();
        minInitialWorkers = c.minInitialWorkers();
        skipInitialWorkerWait = c.skipInitialWorkerWait();
    }

    public SelectionConfigBuilder overlapScoreCredit(double overlapScoreCredit) {
        scoring.overlapScoreCredit = overlapScoreCredit;
        return this;
    }

    public SelectionConfigBuilder overlapScoreCreditDecay(double overlapScoreCreditDecay) {
        scoring.overlapScoreCreditDecay = overlapScoreCreditDecay;
        return this;
    }

    public SelectionConfigBuilder prefillLoadScale(double prefillLoadScale) {
        scoring.prefillLoadScale = prefillLoadScale;
        return this;
    }

    public SelectionConfigBuilder decodeActiveRequestWeight(double decodeActiveRequestWeight) {
        scoring.decodeActiveRequestWeight = decodeActiveRequestWeight;
        return this;
    }

    public SelectionConfigBuilder hostCacheHitWeight(double hostCacheHitWeight) {
        scoring.hostCacheHitWeight = hostCacheHitWeight;
        return this;
    }

    public SelectionConfigBuilder diskCacheHitWeight(double diskCacheHitWeight) {
        scoring.diskCacheHitWeight = diskCacheHitWeight;
        return this;
    }

    public SelectionConfigBuilder routerTemperature(double routerTemperature) {
        scoring.routerTemperature = routerTemperature;
        return this;
    }

    /** Default 0, or 0.5 where a shared cache type is set. */
    public SelectionConfigBuilder sharedCacheMultiplier(@Nullable Double sharedCacheMultiplier) {
        scoring.sharedCacheMultiplier = sharedCacheMultiplier;
        return this;
    }

    public SelectionConfigBuilder trackActiveBlocks(boolean trackActiveBlocks) {
        tracking.activeBlocks = trackActiveBlocks;
        return this;
    }

    public SelectionConfigBuilder trackOutputBlocks(boolean trackOutputBlocks) {
        tracking.outputBlocks = trackOutputBlocks;
        return this;
    }

    public SelectionConfigBuilder assumeKvReuse(boolean assumeKvReuse) {
        tracking.assumeKvReuse = assumeKvReuse;
        return this;
    }

    public SelectionConfigBuilder trackPrefillTokens(boolean trackPrefillTokens) {
        tracking.prefillTokens = trackPrefillTokens;
        return this;
    }

    public SelectionConfigBuilder trackingHash(TrackingConfig.TrackingHash trackingHash) {
        tracking.hash = Objects.requireNonNull(trackingHash, "trackingHash");
        return this;
    }

    public SelectionConfigBuilder trackingHashKeyFile(@Nullable Path trackingHashKeyFile) {
        tracking.hashKeyFile = trackingHashKeyFile;
        return this;
    }

    public SelectionConfigBuilder trackingHashKeyId(@Nullable String trackingHashKeyId) {
        tracking.hashKeyId = trackingHashKeyId;
        return this;
    }

    public SelectionConfigBuilder prefillLoadModel(TrackingConfig.PrefillLoadModel prefillLoadModel) {
        tracking.prefillLoadModel = Objects.requireNonNull(prefillLoadModel, "prefillLoadModel");
        return this;
    }

    public SelectionConfigBuilder useKvEvents(boolean useKvEvents) {
        index.useKvEvents = useKvEvents;
        return this;
    }

    public SelectionConfigBuilder approximateTtl(Duration approximateTtl) {
        index.approximateTtl = Objects.requireNonNull(approximateTtl, "approximateTtl");
        return this;
    }

    public SelectionConfigBuilder approximateCachePolicy(IndexConfig.ApproximateCachePolicy approximateCachePolicy) {
        index.approximateCachePolicy = Objects.requireNonNull(approximateCachePolicy, "approximateCachePolicy");
        return this;
    }

    public SelectionConfigBuilder predictedTtl(@Nullable Duration predictedTtl) {
        index.predictedTtl = predictedTtl;
        return this;
    }

    /** See {@link IndexConfig#shards}. */
    public SelectionConfigBuilder indexShards(int indexShards) {
        index.shards = indexShards;
        return this;
    }

    public SelectionConfigBuilder eventThreads(int eventThreads) {
        index.eventThreads = eventThreads;
        return this;
    }

    public SelectionConfigBuilder useRemoteIndexer(boolean useRemoteIndexer) {
        index.useRemoteIndexer = useRemoteIndexer;
        return this;
    }

    public SelectionConfigBuilder serveIndexer(boolean serveIndexer) {
        index.serveIndexer = serveIndexer;
        return this;
    }

    public SelectionConfigBuilder sharedCacheType(@Nullable String sharedCacheType) {
        index.sharedCacheType = sharedCacheType;
        return this;
    }

    public SelectionConfigBuilder indexFailure(IndexConfig.OnFailure indexFailure) {
        index.onFailure = Objects.requireNonNull(indexFailure, "indexFailure");
        return this;
    }

    /** Default 256. */
    public SelectionConfigBuilder signalPatience(int signalPatience) {
        index.signalPatience = signalPatience;
        return this;
    }

    /** Default none: nobody waits. */
    public SelectionConfigBuilder queueThreshold(@Nullable Double queueThreshold) {
        queue.threshold = queueThreshold;
        return this;
    }

    public SelectionConfigBuilder queuePolicy(QueuePolicy queuePolicy) {
        queue.policy = Objects.requireNonNull(queuePolicy, "queuePolicy");
        return this;
    }

    public SelectionConfigBuilder queueProfiles(QueueProfiles queueProfiles) {
        queue.profiles = Objects.requireNonNull(queueProfiles, "queueProfiles");
        return this;
    }

    public SelectionConfigBuilder overlapRefreshAfter(Duration overlapRefreshAfter) {
        queue.refreshAfter = Objects.requireNonNull(overlapRefreshAfter, "overlapRefreshAfter");
        return this;
    }

    /** Default 60 s, or 100 ms where a prefill load model runs. */
    public SelectionConfigBuilder queueRecheckInterval(@Nullable Duration queueRecheckInterval) {
        queue.recheckInterval = queueRecheckInterval;
        return this;
    }

    public SelectionConfigBuilder queueMaxOvertakes(int queueMaxOvertakes) {
        queue.maxOvertakes = queueMaxOvertakes;
        return this;
    }

    public SelectionConfigBuilder queueNoWorkers(QueueConfig.NoWorkers queueNoWorkers) {
        queue.noWorkers = Objects.requireNonNull(queueNoWorkers, "queueNoWorkers");
        return this;
    }

    public SelectionConfigBuilder disaggEnabled(boolean disaggEnabled) {
        disaggregation.enabled = disaggEnabled;
        return this;
    }

    public SelectionConfigBuilder disaggPolicy(DisaggConfig.Policy disaggPolicy) {
        disaggregation.policy = Objects.requireNonNull(disaggPolicy, "disaggPolicy");
        return this;
    }

    public SelectionConfigBuilder disaggEffIslThreshold(long disaggEffIslThreshold) {
        disaggregation.effIslThreshold = disaggEffIslThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggEffIslRatioThreshold(double disaggEffIslRatioThreshold) {
        disaggregation.effIslRatioThreshold = disaggEffIslRatioThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggPrefillBusyThreshold(@Nullable Double disaggPrefillBusyThreshold) {
        disaggregation.prefillBusyThreshold = disaggPrefillBusyThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggDecodeBusyThreshold(@Nullable Double disaggDecodeBusyThreshold) {
        disaggregation.decodeBusyThreshold = disaggDecodeBusyThreshold;
        return this;
    }

    /** Default none: sessions do not stick. */
    public SelectionConfigBuilder sessionAffinityTtl(@Nullable Duration sessionAffinityTtl) {
        if (sessionAffinityTtl != null) {
            Check.that(
                    sessionAffinityTtl.compareTo(AffinityConfig.MIN_TTL) >= 0
                            && sessionAffinityTtl.compareTo(AffinityConfig.MAX_TTL) <= 0,
                    "session_affinity_ttl_secs",
                    sessionAffinityTtl,
                    AffinityConfig.MIN_TTL + " to " + AffinityConfig.MAX_TTL);
        }
        sessions.ttl(sessionAffinityTtl);
        return this;
    }

    public SelectionConfigBuilder sessionAffinityMode(AffinityMode sessionAffinityMode) {
        sessions.table.mode(Objects.requireNonNull(sessionAffinityMode, "sessionAffinityMode"));
        return this;
    }

    public SelectionConfigBuilder sessionPinPolicy(PinPolicy sessionPinPolicy) {
        sessions.pinPolicy = Objects.requireNonNull(sessionPinPolicy, "sessionPinPolicy");
        return this;
    }

    public SelectionConfigBuilder sessionOverloaded(SessionConfig.Overloaded sessionOverloaded) {
        sessions.overloaded = Objects.requireNonNull(sessionOverloaded, "sessionOverloaded");
        return this;
    }

    public SelectionConfigBuilder sessionRebind(RebindMoment sessionRebind) {
        sessions.table.rebindMoment(Objects.requireNonNull(sessionRebind, "sessionRebind"));
        return this;
    }

    /** Most sessions of one partition's table. Default 65,536. */
    public SelectionConfigBuilder sessionAffinityMaxEntries(int sessionAffinityMaxEntries) {
        Check.atLeast("session_affinity_max_entries", sessionAffinityMaxEntries, 1);
        sessions.table.maxEntries(sessionAffinityMaxEntries);
        return this;
    }

    /** Default none: a session stays however much more is booked on its worker. */
    public SelectionConfigBuilder sessionLoadMargin(@Nullable Double sessionLoadMargin) {
        sessions.loadMargin = sessionLoadMargin;
        return this;
    }

    public SelectionConfigBuilder bookingLease(Duration bookingLease) {
        lifetimes.bookingLease = Objects.requireNonNull(bookingLease, "bookingLease");
        return this;
    }

    public SelectionConfigBuilder replicaOrphanTimeout(Duration replicaOrphanTimeout) {
        lifetimes.replicaOrphanTimeout = Objects.requireNonNull(replicaOrphanTimeout, "replicaOrphanTimeout");
        return this;
    }

    public SelectionConfigBuilder selectionCacheTtl(Duration selectionCacheTtl) {
        lifetimes.selectionCacheTtl = Objects.requireNonNull(selectionCacheTtl, "selectionCacheTtl");
        return this;
    }

    public SelectionConfigBuilder selectionCacheMaxEntries(int selectionCacheMaxEntries) {
        lifetimes.selectionCacheMaxEntries = selectionCacheMaxEntries;
        return this;
    }

    public SelectionConfigBuilder selectionCacheMaxBytes(long selectionCacheMaxBytes) {
        lifetimes.selectionCacheMaxBytes = selectionCacheMaxBytes;
        return this;
    }

    public SelectionConfigBuilder leakSweepInterval(Duration leakSweepInterval) {
        lifetimes.leakSweepInterval = Objects.requireNonNull(leakSweepInterval, "leakSweepInterval");
        return this;
    }

    public SelectionConfigBuilder workerSelection(WorkerSelection workerSelection) {
        this.workerSelection = Objects.requireNonNull(workerSelection, "workerSelection");
        return this;
    }

    public SelectionConfigBuilder replicaSync(boolean replicaSync) {
        this.replicaSync = replicaSync;
        return this;
    }

    public SelectionConfigBuilder minInitialWorkers(int minInitialWorkers) {
        this.minInitialWorkers = minInitialWorkers;
        return this;
    }

    public SelectionConfigBuilder skipInitialWorkerWait(boolean skipInitialWorkerWait) {
        this.skipInitialWorkerWait = skipInitialWorkerWait;
        return this;
    }

    /**
     * The former name of two settings: it is the prefill scale, and 0 also turns the credit off.
     *
     * @deprecated use {@link #prefillLoadScale} and {@link #overlapScoreCredit}
     */
    @Deprecated
    public SelectionConfigBuilder overlapScoreWeight(double weight) {
        Check.from0("overlap_score_weight", weight);
        scoring.prefillLoadScale = weight;
        if (weight == 0) {
            scoring.overlapScoreCredit = 0;
        }
        return this;
    }

    /** @throws BadRequestException naming the field and the value */
    public SelectionConfig build() {
        boolean modelled = tracking.prefillLoadModel != TrackingConfig.PrefillLoadModel.NONE;
        return new SelectionConfig(
                scoring.build(index.sharedCacheType == null ? 0 : 0.5),
                tracking.build(),
                index.build(),
                queue.build(modelled ? Duration.ofMillis(100) : Duration.ofSeconds(60)),
                disaggregation.build(),
                sessions.build(),
                lifetimes.build(),
                workerSelection,
                replicaSync,
                minInitialWorkers,
                skipInitialWorkerWait);
    }
}
