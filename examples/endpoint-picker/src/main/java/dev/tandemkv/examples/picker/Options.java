package dev.tandemkv.examples.picker;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The settings of a picker. The variable that an option's text names is the one that is read where the option is not given. */
final class Options {

    private static final Pattern ADDRESS =
            Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    private static final Pattern HEADER = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]+");

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Address to listen on for the proxy. TANDEMKV_HOST; default 127.0.0.1")
    String host = "";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "9002",
            description = "gRPC port, 0 takes a free one. TANDEMKV_PORT; default 9002")
    int port;

    @Option(
            names = "--mode",
            paramLabel = "NAME",
            defaultValue = "standalone",
            description = {
                "standalone: this process chooses. DYN_EPP_MODE; default standalone. The other mode of the peer's, dynamo,",
                "asks a Dynamo runtime and is not there"
            })
    String mode = "";

    @Option(
            names = "--workers-file",
            paramLabel = "FILE",
            description = {
                "JSON file of workers, watched: they come and go with it. TANDEMKV_WORKERS_FILE;",
                "required without --inference-pool-name"
            })
    @Nullable
    Path workersFile;

    @Option(
            names = "--prefill-workers-file",
            paramLabel = "FILE",
            description = {
                "The same for prefill workers: prefill and decode are disaggregated then, and --workers-file",
                "names the decode workers. TANDEMKV_PREFILL_WORKERS_FILE; default none"
            })
    @Nullable
    Path prefillWorkersFile;

    @Mixin
    KubernetesOptions kubernetes = new KubernetesOptions();

    @Option(
            names = "--model-name",
            paramLabel = "NAME",
            description = "The model served, of workers that name none. DYN_MODEL_NAME; required")
    @Nullable
    String modelName;

    @Option(
            names = "--tokenizer-service-url",
            paramLabel = "URL",
            description = {
                "An engine, or what speaks like one; a file: URL with a local tokenizer. DYN_EPP_TOKENIZER_SERVICE_URL;",
                "required"
            })
    @Nullable
    URI tokenizerServiceUrl;

    @Option(
            names = "--tokenizer-protocol",
            paramLabel = "NAME",
            defaultValue = "vllm",
            converter = ProtocolName.class,
            description = {
                "vllm: POST /tokenize. huggingface: the URL names a tokenizer.json, for completions only.",
                "DYN_EPP_TOKENIZER_PROTOCOL; default vllm"
            })
    TokenizerProtocol tokenizerProtocol = TokenizerProtocol.VLLM;

    @Option(
            names = "--kv-cache-block-size",
            paramLabel = "N",
            description = "Tokens of a KV block. DYN_KV_CACHE_BLOCK_SIZE; required")
    @Nullable
    Integer kvCacheBlockSize;

    @Option(
            names = "--data-parallel-size",
            paramLabel = "N",
            defaultValue = "1",
            description = "Ranks of a worker. DYN_EPP_DATA_PARALLEL_SIZE; default 1")
    int dataParallelSize;

    @Option(
            names = "--kv-event-port",
            paramLabel = "PORT",
            defaultValue = "5557",
            description = {
                "Where workers publish KV events that name no endpoint or port. DYN_EPP_KV_EVENT_PORT; default 5557.",
                "DYN_ROUTER_USE_KV_EVENTS=false does without events"
            })
    int kvEventPort;

    @Option(
            names = "--kv-event-port-stride",
            paramLabel = "N",
            defaultValue = "1",
            description = "Rank r publishes on port + r * stride. DYN_EPP_KV_EVENT_PORT_STRIDE; default 1")
    int kvEventPortStride;

    @Option(
            names = "--kv-event-replay-port",
            paramLabel = "PORT",
            description =
                    "Where they answer replays, with one rank a worker. DYN_EPP_KV_EVENT_REPLAY_PORT; default off")
    @Nullable
    Integer kvEventReplayPort;

    @Option(
            names = "--total-kv-blocks",
            paramLabel = "N",
            description = "KV blocks of a worker, all ranks together. DYN_EPP_TOTAL_KV_BLOCKS; default unknown")
    @Nullable
    Long totalKvBlocks;

    @Option(
            names = "--max-num-batched-tokens",
            paramLabel = "N",
            description = {
                "Prefill tokens of a batch of a rank. DYN_EPP_MAX_NUM_BATCHED_TOKENS;",
                "required where requests queue (DYN_ROUTER_QUEUE_THRESHOLD)"
            })
    @Nullable
    Long maxNumBatchedTokens;

    @Option(
            names = "--selection-indexer-threads",
            paramLabel = "N",
            defaultValue = "4",
            description = {
                "Taken as the peer's, and without effect: one thread reads and applies the engines' events.",
                "DYN_EPP_SELECTION_INDEXER_THREADS; default 4"
            })
    int selectionIndexerThreads;

    @Option(
            names = "--tokenization-timeout-ms",
            paramLabel = "MS",
            defaultValue = "5000",
            description = "DYN_EPP_TOKENIZATION_TIMEOUT_MS; default 5000")
    long tokenizationTimeoutMs;

    @Option(
            names = "--tokenizer-max-response-bytes",
            paramLabel = "BYTES",
            defaultValue = "16777216",
            description = "DYN_EPP_TOKENIZER_MAX_RESPONSE_BYTES; default 16777216")
    int tokenizerMaxResponseBytes;

    @Option(
            names = "--max-inflight-requests",
            paramLabel = "N",
            defaultValue = "1024",
            description =
                    "Requests between headers and decision; more are 429. DYN_EPP_MAX_INFLIGHT_REQUESTS; default 1024")
    int maxInflightRequests;

    @Option(
            names = "--max-body-bytes",
            paramLabel = "BYTES",
            defaultValue = "16777216",
            description = "Largest body of a request; a larger one is 413. TANDEMKV_MAX_BODY_BYTES; default 16777216")
    int maxBodyBytes;

    @Option(
            names = "--max-buffered-bytes",
            paramLabel = "BYTES",
            defaultValue = "134217728",
            description = {
                "Bytes of all requests' bodies that are held at once; what does not fit is 429, and --max-body-bytes must fit.",
                "TANDEMKV_MAX_BUFFERED_BYTES; default 134217728"
            })
    long maxBufferedBytes;

    @Option(
            names = "--body-timeout-ms",
            paramLabel = "MS",
            defaultValue = "60000",
            description =
                    "From a request's headers to the end of its body; longer is 408. TANDEMKV_BODY_TIMEOUT_MS; default 60000")
    long bodyTimeoutMs;

    @Option(
            names = "--session-headers",
            paramLabel = "NAME[,NAME]",
            split = ",",
            defaultValue = "x-dynamo-session-id,x-dynamo-session-affinity-id",
            description = {
                "Headers that name a client's session, the first that is there counts. TANDEMKV_SESSION_HEADERS;",
                "default x-dynamo-session-id,x-dynamo-session-affinity-id"
            })
    List<String> sessionHeaders = List.of();

    @Option(
            names = "--drain-timeout-secs",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = {
                "How long answers under way may go on after a signal to end. TANDEMKV_DRAIN_TIMEOUT_SECS;",
                "default 10"
            })
    long drainTimeoutSecs;

    @Option(
            names = "--peer-service",
            paramLabel = "NAME",
            description = {
                "A DNS name behind which all pickers are, this one too: they tell each other bookings and sessions.",
                "DYN_EPP_PEER_SERVICE; default none"
            })
    @Nullable
    String peerService;

    @Option(
            names = "--pod-ip",
            paramLabel = "ADDRESS",
            description =
                    "This picker's address behind that name, where the others connect to. POD_IP; required with it")
    @Nullable
    String podIp;

    @Option(
            names = "--replica-sync-port",
            paramLabel = "PORT",
            defaultValue = "9092",
            description = {
                "On which port, the same for all pickers; with a prefill pool the next one is taken too.",
                "DYN_EPP_REPLICA_SYNC_PORT; default 9092"
            })
    int replicaSyncPort;

    @Option(
            names = "--session-affinity-ttl-secs",
            paramLabel = "SECONDS",
            description = "Sessions return to their worker. DYN_EPP_SESSION_AFFINITY_TTL_SECS; default off")
    @Nullable
    Long sessionAffinityTtlSecs;

    @Option(
            names = "--disagg-order",
            paramLabel = "ORDER",
            defaultValue = "decode-anchored",
            converter = OrderName.class,
            description = "decode-anchored, prefill-anchored or joint. DYN_EPP_DISAGG_ORDER; default decode-anchored")
    PlanOrder disaggOrder = PlanOrder.DECODE_ANCHORED;

    @Option(
            names = "--disagg-prefill-failure",
            paramLabel = "POLICY",
            defaultValue = "free-decode",
            converter = FailureName.class,
            description = "free-decode or bypass-on-decode. DYN_EPP_DISAGG_PREFILL_FAILURE; default free-decode")
    PrefillFailurePolicy disaggPrefillFailure = PrefillFailurePolicy.FREE_DECODE;

    @Option(
            names = "--trust-client-headers",
            paramLabel = "BOOLEAN",
            arity = "1",
            defaultValue = "false",
            description = "Clients may pin workers and set priorities. TANDEMKV_TRUST_CLIENT_HEADERS; default false")
    boolean trustClientHeaders;

    /** How token ids are got. */
    enum TokenizerProtocol {
        VLLM,
        HUGGINGFACE
    }

    /** @throws BadRequestException naming the option */
    void check() {
        that(mode.equals("standalone"), "--mode", mode, "standalone");
        checkMembership();
        required("--model-name", modelName);
        required("--tokenizer-service-url", tokenizerServiceUrl);
        required("--kv-cache-block-size", kvCacheBlockSize);
        range("--port", port, 0, 65_535);
        range("--kv-cache-block-size", blockSize(), 1, Integer.MAX_VALUE);
        range("--data-parallel-size", dataParallelSize, 1, 1_024);
        range("--kv-event-port", kvEventPort, 1, 65_535);
        range("--kv-event-port-stride", kvEventPortStride, 1, 65_535);
        long last = kvEventPort + (dataParallelSize - 1L) * kvEventPortStride;
        that(last <= 65_535, "--kv-event-port-stride", kvEventPortStride, "the last rank's port at most 65535");
        if (kvEventReplayPort != null) {
            range("--kv-event-replay-port", kvEventReplayPort, 1, 65_535);
            that(dataParallelSize == 1, "--kv-event-replay-port", kvEventReplayPort, "none with several ranks");
        }
        range("--total-kv-blocks", totalKvBlocks == null ? 1 : totalKvBlocks, 1, Long.MAX_VALUE);
        range("--max-num-batched-tokens", maxNumBatchedTokens == null ? 1 : maxNumBatchedTokens, 1, Long.MAX_VALUE);
        range("--selection-indexer-threads", selectionIndexerThreads, 1, 1_024);
        range("--tokenization-timeout-ms", tokenizationTimeoutMs, 1, 3_600_000);
        range("--tokenizer-max-response-bytes", tokenizerMaxResponseBytes, 1, Integer.MAX_VALUE);
        range("--max-inflight-requests", maxInflightRequests, 1, Integer.MAX_VALUE);
        range("--max-body-bytes", maxBodyBytes, 1, Integer.MAX_VALUE);
        range("--max-buffered-bytes", maxBufferedBytes, maxBodyBytes, Long.MAX_VALUE);
        range("--body-timeout-ms", bodyTimeoutMs, 1, 86_400_000);
        for (String header : sessionHeaders) {
            that(HEADER.matcher(header).matches(), "--session-headers", header, "names of headers in lower case");
        }
        range("--drain-timeout-secs", drainTimeoutSecs, 0, 86_400);
        checkTokenizer();
        checkReplicas();
        that(
                disaggPrefillFailure == PrefillFailurePolicy.FREE_DECODE || disaggOrder == PlanOrder.DECODE_ANCHORED,
                "--disagg-prefill-failure",
                "bypass-on-decode",
                "free-decode unless --disagg-order is decode-anchored");
    }

    private void checkMembership() {
        kubernetes.check();
        if (kubernetes.isUsed()) {
            String expected = "none beside --inference-pool-name";
            that(workersFile == null, "--workers-file", workersFile, expected);
            that(prefillWorkersFile == null, "--prefill-workers-file", prefillWorkersFile, expected);
        } else {
            required("--workers-file", workersFile);
            that(
                    prefillWorkersFile == null || !prefillWorkersFile.equals(workersFile),
                    "--prefill-workers-file",
                    prefillWorkersFile,
                    "another file than --workers-file");
        }
    }

    private void checkTokenizer() {
        String scheme = String.valueOf(tokenizer().getScheme());
        if (tokenizerProtocol == TokenizerProtocol.VLLM) {
            boolean http = scheme.equals("http") || scheme.equals("https");
            that(http && tokenizer().getHost() != null, "--tokenizer-service-url", tokenizer(), "http://host:port");
        } else {
            boolean file = scheme.equals("file") && tokenizer().getPath() != null;
            that(file, "--tokenizer-service-url", tokenizer(), "file:///path/of/tokenizer.json");
        }
    }

    boolean isDisaggregated() {
        return kubernetes.prefillPoolName != null || prefillWorkersFile != null;
    }

    private void checkReplicas() {
        range("--replica-sync-port", replicaSyncPort, 1, isDisaggregated() ? 65_534 : 65_535);
        if (peerService != null) {
            required("--pod-ip", podIp);
            that(!peerService.isBlank(), "--peer-service", peerService, "a name");
            that(ADDRESS.matcher(String.valueOf(podIp)).matches(), "--pod-ip", podIp, "an IP address");
        }
    }

    int blockSize() {
        return Objects.requireNonNull(kvCacheBlockSize);
    }

    Path workers() {
        return Objects.requireNonNull(workersFile);
    }

    String model() {
        return Objects.requireNonNull(modelName);
    }

    URI tokenizer() {
        return Objects.requireNonNull(tokenizerServiceUrl);
    }

    private static void required(String option, @Nullable Object value) {
        that(value != null && !value.toString().isBlank(), option, "none", "a value");
    }

    private static void range(String option, long value, long least, long most) {
        that(value >= least && value <= most, option, value, least + " to " + most);
    }

    private static void that(boolean holds, String option, @Nullable Object value, String expected) {
        if (!holds) {
            throw new BadRequestException(option, String.valueOf(value), expected);
        }
    }

    static final class ProtocolName implements ITypeConverter<TokenizerProtocol> {
        @Override
        public TokenizerProtocol convert(String text) {
            return named(TokenizerProtocol.values(), text);
        }
    }

    static final class OrderName implements ITypeConverter<PlanOrder> {
        @Override
        public PlanOrder convert(String text) {
            return named(PlanOrder.values(), text);
        }
    }

    static final class FailureName implements ITypeConverter<PrefillFailurePolicy> {
        @Override
        public PrefillFailurePolicy convert(String text) {
            return named(PrefillFailurePolicy.values(), text);
        }
    }

    private static <E extends Enum<E>> E named(E[] values, String text) {
        String name = text.replace('-', '_').toUpperCase(Locale.ROOT);
        return Arrays.stream(values)
                .filter(value -> value.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + text + "' (expected: one of "
                        + Arrays.toString(values).toLowerCase(Locale.ROOT).replace('_', '-') + ")"));
    }
}
