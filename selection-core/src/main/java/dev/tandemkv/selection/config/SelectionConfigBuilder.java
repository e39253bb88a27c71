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
    private double overlapScoreCredit = 1.0;
    private double overlapScoreCreditDecay = 0.0;
    private double prefillLoadScale = 1.0;
    private double decodeActiveRequestWeight = 0.0;
    private double hostCacheHitWeight = 0.75;
    private double diskCacheHitWeight = 0.25;
    private double routerTemperature = 0.0;
    private @Nullable Double sharedCacheMultiplier;
    private boolean trackActiveBlocks = true;
    private boolean trackOutputBlocks = false;
    private boolean assumeKvReuse = true;
    private boolean trackPrefillTokens = true;
    private TrackingConfig.TrackingHash trackingHash = TrackingConfig.TrackingHash.PUBLIC_XXH3_V1;
    private @Nullable Path trackingHashKeyFile;
    private @Nullable String trackingHashKeyId;
    private TrackingConfig.PrefillLoadModel prefillLoadModel = TrackingConfig.PrefillLoadModel.NONE;
    private boolean useKvEvents = true;
    private Duration approximateTtl = Duration.ofMinutes(2);
    private IndexConfig.ApproximateCachePolicy approximateCachePolicy = IndexConfig.ApproximateCachePolicy.TTL;
    private @Nullable Duration predictedTtl;
    private int eventThreads = 4;
    private boolean useRemoteIndexer = false;
    private boolean serveIndexer = false;
    private @Nullable String sharedCacheType;
    private IndexConfig.OnFailure indexFailure = IndexConfig.OnFailure.DEGRADE;
    private int signalPatience = 256;
    private @Nullable Double queueThreshold;
    private QueuePolicy queuePolicy = QueuePolicy.FCFS;
    private QueueProfiles queueProfiles = QueueProfiles.NONE;
    private Duration overlapRefreshAfter = Duration.ofSeconds(10);
    private @Nullable Duration queueRecheckInterval;
    private int queueMaxOvertakes = 16;
    private QueueConfig.NoWorkers queueNoWorkers = QueueConfig.NoWorkers.WAIT;
    private boolean disaggEnabled = false;
    private DisaggConfig.Policy disaggPolicy = DisaggConfig.Policy.ISL_BOUNDING;
    private long disaggEffIslThreshold = 2_048;
    private double disaggEffIslRatioThreshold = 0.7;
    private @Nullable Double disaggPrefillBusyThreshold;
    private @Nullable Double disaggDecodeBusyThreshold;
    private @Nullable Duration sessionAffinityTtl;
    private AffinityMode sessionAffinityMode = AffinityMode.HARD;
    private PinPolicy sessionPinPolicy = PinPolicy.VALIDATE;
    private SessionConfig.Overloaded sessionOverloaded = SessionConfig.Overloaded.WAIT;
    private RebindMoment sessionRebind = RebindMoment.ON_FIRST_TOKEN;
    private Duration bookingLease = Duration.ofMinutes(5);
    private Duration replicaOrphanTimeout = Duration.ofMinutes(5);
    private Duration selectionCacheTtl = Duration.ofMinutes(2);
    private int selectionCacheMaxEntries = 4_096;
    private long selectionCacheMaxBytes = 256L << 20;
    private Duration leakSweepInterval = Duration.ofSeconds(30);
    private WorkerSelection workerSelection = WorkerSelection.BUILT_IN;
    private boolean replicaSync;
    private int minInitialWorkers;
    private boolean skipInitialWorkerWait;

    SelectionConfigBuilder() {}

    SelectionConfigBuilder(SelectionConfig c) {
        overlapScoreCredit = c.scoring().overlapScoreCredit();
        overlapScoreCreditDecay = c.scoring().overlapScoreCreditDecay();
        prefillLoadScale = c.scoring().prefillLoadScale();
        decodeActiveRequestWeight = c.scoring().decodeActiveRequestWeight();
        hostCacheHitWeight = c.scoring().hostCacheHitWeight();
        diskCacheHitWeight = c.scoring().diskCacheHitWeight();
        routerTemperature = c.scoring().routerTemperature();
        sharedCacheMultiplier = c.scoring().sharedCacheMultiplier();
        trackActiveBlocks = c.tracking().activeBlocks();
        trackOutputBlocks = c.tracking().outputBlocks();
        assumeKvReuse = c.tracking().assumeKvReuse();
        trackPrefillTokens = c.tracking().prefillTokens();
        trackingHash = c.tracking().hash();
        trackingHashKeyFile = c.tracking().hashKeyFile();
        trackingHashKeyId = c.tracking().hashKeyId();
        prefillLoadModel = c.tracking().prefillLoadModel();
        useKvEvents = c.index().useKvEvents();
        approximateTtl = c.index().approximateTtl();
        approximateCachePolicy = c.index().approximateCachePolicy();
        predictedTtl = c.index().predictedTtl();
        eventThreads = c.index().eventThreads();
        useRemoteIndexer = c.index().useRemoteIndexer();
        serveIndexer = c.index().serveIndexer();
        sharedCacheType = c.index().sharedCacheType();
        indexFailure = c.index().onFailure();
        signalPatience = c.index().signalPatience();
        queueThreshold = c.queue().threshold();
        queuePolicy = c.queue().policy();
        queueProfiles = c.queue().profiles();
        overlapRefreshAfter = c.queue().refreshAfter();
        queueRecheckInterval = c.queue().recheckInterval();
        queueMaxOvertakes = c.queue().maxOvertakes();
        queueNoWorkers = c.queue().noWorkers();
        disaggEnabled = c.disaggregation().enabled();
        disaggPolicy = c.disaggregation().policy();
        disaggEffIslThreshold = c.disaggregation().effIslThreshold();
        disaggEffIslRatioThreshold = c.disaggregation().effIslRatioThreshold();
        disaggPrefillBusyThreshold = c.disaggregation().prefillBusyThreshold();
        disaggDecodeBusyThreshold = c.disaggregation().decodeBusyThreshold();
        sessionTable(c.sessions().table());

        sessionPinPolicy = c.sessions().pinPolicy();
        sessionOverloaded = c.sessions().overloaded();
        bookingLease = c.lifetimes().bookingLease();
        replicaOrphanTimeout = c.lifetimes().replicaOrphanTimeout();
        selectionCacheTtl = c.lifetimes().selectionCacheTtl();
        selectionCacheMaxEntries = c.lifetimes().selectionCacheMaxEntries();
        selectionCacheMaxBytes = c.lifetimes().selectionCacheMaxBytes();
        leakSweepInterval = c.lifetimes().leakSweepInterval();
        workerSelection = c.workerSelection();
        replicaSync = c.replicaSync();
        minInitialWorkers = c.minInitialWorkers();
        skipInitialWorkerWait = c.skipInitialWorkerWait();
    }

    public SelectionConfigBuilder overlapScoreCredit(double overlapScoreCredit) {
        this.overlapScoreCredit = overlapScoreCredit;
        return this;
    }

    public SelectionConfigBuilder overlapScoreCreditDecay(double overlapScoreCreditDecay) {
        this.overlapScoreCreditDecay = overlapScoreCreditDecay;
        return this;
    }

    public SelectionConfigBuilder prefillLoadScale(double prefillLoadScale) {
        this.prefillLoadScale = prefillLoadScale;
        return this;
    }

    public SelectionConfigBuilder decodeActiveRequestWeight(double decodeActiveRequestWeight) {
        this.decodeActiveRequestWeight = decodeActiveRequestWeight;
        return this;
    }

    public SelectionConfigBuilder hostCacheHitWeight(double hostCacheHitWeight) {
        this.hostCacheHitWeight = hostCacheHitWeight;
        return this;
    }

    public SelectionConfigBuilder diskCacheHitWeight(double diskCacheHitWeight) {
        this.diskCacheHitWeight = diskCacheHitWeight;
        return this;
    }

    public SelectionConfigBuilder routerTemperature(double routerTemperature) {
        this.routerTemperature = routerTemperature;
        return this;
    }

    /** Default 0, or 0.5 where a shared cache type is set. */
    public SelectionConfigBuilder sharedCacheMultiplier(@Nullable Double sharedCacheMultiplier) {
        this.sharedCacheMultiplier = sharedCacheMultiplier;
        return this;
    }

    public SelectionConfigBuilder trackActiveBlocks(boolean trackActiveBlocks) {
        this.trackActiveBlocks = trackActiveBlocks;
        return this;
    }

    public SelectionConfigBuilder trackOutputBlocks(boolean trackOutputBlocks) {
        this.trackOutputBlocks = trackOutputBlocks;
        return this;
    }

    public SelectionConfigBuilder assumeKvReuse(boolean assumeKvReuse) {
        this.assumeKvReuse = assumeKvReuse;
        return this;
    }

    public SelectionConfigBuilder trackPrefillTokens(boolean trackPrefillTokens) {
        this.trackPrefillTokens = trackPrefillTokens;
        return this;
    }

    public SelectionConfigBuilder trackingHash(TrackingConfig.TrackingHash trackingHash) {
        this.trackingHash = Objects.requireNonNull(trackingHash, "trackingHash");
        return this;
    }

    public SelectionConfigBuilder trackingHashKeyFile(@Nullable Path trackingHashKeyFile) {
        this.trackingHashKeyFile = trackingHashKeyFile;
        return this;
    }

    public SelectionConfigBuilder trackingHashKeyId(@Nullable String trackingHashKeyId) {
        this.trackingHashKeyId = trackingHashKeyId;
        return this;
    }

    public SelectionConfigBuilder prefillLoadModel(TrackingConfig.PrefillLoadModel prefillLoadModel) {
        this.prefillLoadModel = Objects.requireNonNull(prefillLoadModel, "prefillLoadModel");
        return this;
    }

    public SelectionConfigBuilder useKvEvents(boolean useKvEvents) {
        this.useKvEvents = useKvEvents;
        return this;
    }

    public SelectionConfigBuilder approximateTtl(Duration approximateTtl) {
        this.approximateTtl = Objects.requireNonNull(approximateTtl, "approximateTtl");
        return this;
    }

    public SelectionConfigBuilder approximateCachePolicy(IndexConfig.ApproximateCachePolicy approximateCachePolicy) {
        this.approximateCachePolicy = Objects.requireNonNull(approximateCachePolicy, "approximateCachePolicy");
        return this;
    }

    public SelectionConfigBuilder predictedTtl(@Nullable Duration predictedTtl) {
        this.predictedTtl = predictedTtl;
        return this;
    }

    public SelectionConfigBuilder eventThreads(int eventThreads) {
        this.eventThreads = eventThreads;
        return this;
    }

    public SelectionConfigBuilder useRemoteIndexer(boolean useRemoteIndexer) {
        this.useRemoteIndexer = useRemoteIndexer;
        return this;
    }

    public SelectionConfigBuilder serveIndexer(boolean serveIndexer) {
        this.serveIndexer = serveIndexer;
        return this;
    }

    public SelectionConfigBuilder sharedCacheType(@Nullable String sharedCacheType) {
        this.sharedCacheType = sharedCacheType;
        return this;
    }

    public SelectionConfigBuilder indexFailure(IndexConfig.OnFailure indexFailure) {
        this.indexFailure = Objects.requireNonNull(indexFailure, "indexFailure");
        return this;
    }

    /** Default 256. */
    public SelectionConfigBuilder signalPatience(int signalPatience) {
        this.signalPatience = signalPatience;
        return this;
    }

    /** Default none: nobody waits. */
    public SelectionConfigBuilder queueThreshold(@Nullable Double queueThreshold) {
        this.queueThreshold = queueThreshold;
        return this;
    }

    public SelectionConfigBuilder queuePolicy(QueuePolicy queuePolicy) {
        this.queuePolicy = Objects.requireNonNull(queuePolicy, "queuePolicy");
        return this;
    }

    public SelectionConfigBuilder queueProfiles(QueueProfiles queueProfiles) {
        this.queueProfiles = Objects.requireNonNull(queueProfiles, "queueProfiles");
        return this;
    }

    public SelectionConfigBuilder overlapRefreshAfter(Duration overlapRefreshAfter) {
        this.overlapRefreshAfter = Objects.requireNonNull(overlapRefreshAfter, "overlapRefreshAfter");
        return this;
    }

    /** Default 60 s, or 100 ms where a prefill load model runs. */
    public SelectionConfigBuilder queueRecheckInterval(@Nullable Duration queueRecheckInterval) {
        this.queueRecheckInterval = queueRecheckInterval;
        return this;
    }

    public SelectionConfigBuilder queueMaxOvertakes(int queueMaxOvertakes) {
        this.queueMaxOvertakes = queueMaxOvertakes;
        return this;
    }

    public SelectionConfigBuilder queueNoWorkers(QueueConfig.NoWorkers queueNoWorkers) {
        this.queueNoWorkers = Objects.requireNonNull(queueNoWorkers, "queueNoWorkers");
        return this;
    }

    public SelectionConfigBuilder disaggEnabled(boolean disaggEnabled) {
        this.disaggEnabled = disaggEnabled;
        return this;
    }

    public SelectionConfigBuilder disaggPolicy(DisaggConfig.Policy disaggPolicy) {
        this.disaggPolicy = Objects.requireNonNull(disaggPolicy, "disaggPolicy");
        return this;
    }

    public SelectionConfigBuilder disaggEffIslThreshold(long disaggEffIslThreshold) {
        this.disaggEffIslThreshold = disaggEffIslThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggEffIslRatioThreshold(double disaggEffIslRatioThreshold) {
        this.disaggEffIslRatioThreshold = disaggEffIslRatioThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggPrefillBusyThreshold(@Nullable Double disaggPrefillBusyThreshold) {
        this.disaggPrefillBusyThreshold = disaggPrefillBusyThreshold;
        return this;
    }

    public SelectionConfigBuilder disaggDecodeBusyThreshold(@Nullable Double disaggDecodeBusyThreshold) {
        this.disaggDecodeBusyThreshold = disaggDecodeBusyThreshold;
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
        this.sessionAffinityTtl = sessionAffinityTtl;
        return this;
    }

    public SelectionConfigBuilder sessionAffinityMode(AffinityMode sessionAffinityMode) {
        this.sessionAffinityMode = Objects.requireNonNull(sessionAffinityMode, "sessionAffinityMode");
        return this;
    }

    public SelectionConfigBuilder sessionPinPolicy(PinPolicy sessionPinPolicy) {
        this.sessionPinPolicy = Objects.requireNonNull(sessionPinPolicy, "sessionPinPolicy");
        return this;
    }

    public SelectionConfigBuilder sessionOverloaded(SessionConfig.Overloaded sessionOverloaded) {
        this.sessionOverloaded = Objects.requireNonNull(sessionOverloaded, "sessionOverloaded");
        return this;
    }

    public SelectionConfigBuilder sessionRebind(RebindMoment sessionRebind) {
        this.sessionRebind = Objects.requireNonNull(sessionRebind, "sessionRebind");
        return this;
    }

    public SelectionConfigBuilder bookingLease(Duration bookingLease) {
        this.bookingLease = Objects.requireNonNull(bookingLease, "bookingLease");
        return this;
    }

    public SelectionConfigBuilder replicaOrphanTimeout(Duration replicaOrphanTimeout) {
        this.replicaOrphanTimeout = Objects.requireNonNull(replicaOrphanTimeout, "replicaOrphanTimeout");
        return this;
    }

    public SelectionConfigBuilder selectionCacheTtl(Duration selectionCacheTtl) {
        this.selectionCacheTtl = Objects.requireNonNull(selectionCacheTtl, "selectionCacheTtl");
        return this;
    }

    public SelectionConfigBuilder selectionCacheMaxEntries(int selectionCacheMaxEntries) {
        this.selectionCacheMaxEntries = selectionCacheMaxEntries;
        return this;
    }

    public SelectionConfigBuilder selectionCacheMaxBytes(long selectionCacheMaxBytes) {
        this.selectionCacheMaxBytes = selectionCacheMaxBytes;
        return this;
    }

    public SelectionConfigBuilder leakSweepInterval(Duration leakSweepInterval) {
        this.leakSweepInterval = Objects.requireNonNull(leakSweepInterval, "leakSweepInterval");
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
        prefillLoadScale = weight;
        if (weight == 0) {
            overlapScoreCredit = 0;
        }
        return this;
    }

    /** @throws BadRequestException naming the field and the value */
    public SelectionConfig build() {
        return new SelectionConfig(
                new ScoringConfig(
                        overlapScoreCredit,
                        overlapScoreCreditDecay,
                        prefillLoadScale,
                        decodeActiveRequestWeight,
                        hostCacheHitWeight,
                        diskCacheHitWeight,
                        routerTemperature,
                        sharedMultiplier()),
                new TrackingConfig(
                        trackActiveBlocks,
                        trackOutputBlocks,
                        assumeKvReuse,
                        trackPrefillTokens,
                        trackingHash,
                        trackingHashKeyFile,
                        trackingHashKeyId,
                        prefillLoadModel),
                new IndexConfig(
                        useKvEvents,
                        approximateTtl,
                        approximateCachePolicy,
                        predictedTtl,
                        eventThreads,
                        useRemoteIndexer,
                        serveIndexer,
                        sharedCacheType,
                        indexFailure,
                        signalPatience),
                new QueueConfig(
                        queueThreshold,
                        queuePolicy,
                        queueProfiles,
                        overlapRefreshAfter,
                        recheckInterval(),
                        queueMaxOvertakes,
                        queueNoWorkers),
                new DisaggConfig(
                        disaggEnabled,
                        disaggPolicy,
                        disaggEffIslThreshold,
                        disaggEffIslRatioThreshold,
                        disaggPrefillBusyThreshold,
                        disaggDecodeBusyThreshold),
                new SessionConfig(sessionTable(), sessionPinPolicy, sessionOverloaded),
                new LifetimeConfig(
                        bookingLease,
                        replicaOrphanTimeout,
                        selectionCacheTtl,
                        selectionCacheMaxEntries,
                        selectionCacheMaxBytes,
                        leakSweepInterval),
                workerSelection,
                replicaSync,
                minInitialWorkers,
                skipInitialWorkerWait);
    }

    private void sessionTable(@Nullable AffinityConfig table) {
        if (table != null) {
            sessionAffinityTtl = table.ttl();
            sessionAffinityMode = table.mode();
            sessionRebind = table.rebindMoment();
        }
    }

    private @Nullable AffinityConfig sessionTable() {
        return sessionAffinityTtl == null
                ? null
                : AffinityConfig.builder(sessionAffinityTtl)
                        .mode(sessionAffinityMode)
                        .rebindMoment(sessionRebind)
                        .build();
    }

    private double sharedMultiplier() {
        if (sharedCacheMultiplier != null) {
            return sharedCacheMultiplier;
        }
        return sharedCacheType == null ? 0 : 0.5;
    }

    private Duration recheckInterval() {
        if (queueRecheckInterval != null) {
            return queueRecheckInterval;
        }
        boolean modelled = prefillLoadModel != TrackingConfig.PrefillLoadModel.NONE;
        return modelled ? Duration.ofMillis(100) : Duration.ofSeconds(60);
    }
}
