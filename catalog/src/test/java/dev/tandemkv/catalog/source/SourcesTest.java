package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Fixed, in-memory and DNS sources. */
class SourcesTest {

    private final VirtualTime time = new VirtualTime();
    private final List<SourceException> problems = new ArrayList<>();

    private static Optional<CatalogSnapshot> now(CompletionStage<Optional<CatalogSnapshot>> stage) {
        return stage.toCompletableFuture().getNow(null);
    }

    // ---- fixed and in memory ----

    @Test
    void fixedSource_answersOnceAndThenOnlyItsEnd() {
        FixedSource fixed = new FixedSource(List.of(WorkerSpec.builder(1).build()));
        assertThat(now(fixed.nextSnapshot()).orElseThrow().workers()).hasSize(1);
        CompletionStage<Optional<CatalogSnapshot>> next = fixed.nextSnapshot();
        assertThat(now(next)).isNull();
        fixed.close();
        assertThat(now(next)).isEmpty();
        assertThat(now(fixed.nextSnapshot())).isEmpty();
    }

    @Test
    void inMemorySource_unfetchedSnapshot_isSuperseded() {
        InMemorySource source = new InMemorySource();
        source.publish(CatalogSnapshot.of(WorkerSpec.builder(1).build()));
        source.publish(CatalogSnapshot.empty());
        assertThat(now(source.nextSnapshot())).contains(CatalogSnapshot.empty());
        assertThat(now(source.nextSnapshot())).isNull();
    }

    @Test
    void inMemorySource_afterAFailure_tellsTheMembershipAgain() {
        InMemorySource source = new InMemorySource();
        source.publish(CatalogSnapshot.empty());
        source.nextSnapshot();
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        source.fail(new IllegalStateException("lost"));
        assertThat(next.toCompletableFuture()).isCompletedExceptionally();
        assertThat(now(source.nextSnapshot())).contains(CatalogSnapshot.empty());
    }

    @Test
    void inMemorySource_closed_saysNothingMore() {
        InMemorySource source = new InMemorySource();
        source.close();
        source.close();
        source.publish(CatalogSnapshot.empty());
        source.fail(new IllegalStateException("x"));
        assertThat(now(source.nextSnapshot())).isEmpty();
    }

    // ---- DNS ----

    private List<InetAddress> addresses = List.of();
    private RuntimeException lookupFailure;
    private int lookups;

    private final DnsResolver resolver = name -> {
        lookups++;
        assertThat(name).isEqualTo("workers.svc");
        return lookupFailure == null
                ? CompletableFuture.completedStage(addresses)
                : CompletableFuture.failedStage(lookupFailure);
    };

    private DnsSource dns() {
        return DnsSource.builder("workers.svc", 8000, resolver, time)
                .template(WorkerSpec.builder(0)
                        .modelName("m")
                        .blockSize(16)
                        .dataParallelSize(2)
                        .build())
                .eventPorts(5557, 1)
                .observer(problems::add)
                .build();
    }

    private static InetAddress address(String text) throws UnknownHostException {
        return InetAddress.getByName(text);
    }

    @Test
    void dnsSource_records_becomeWorkersWithStableIds() throws Exception {
        addresses = List.of(address("10.0.0.2"), address("fd00::1"), address("10.0.0.2"));
        CatalogSnapshot snapshot = now(dns().nextSnapshot()).orElseThrow();
        assertThat(snapshot.workers())
                .extracting(WorkerSpec::endpoint)
                .containsExactly("http://10.0.0.2:8000", "http://[fd00:0:0:0:0:0:0:1]:8000");
        WorkerSpec first = snapshot.workers().get(0);
        assertThat(first.workerId())
                .as("SHA-256 of 10.0.0.2:8000, first 8 bytes")
                .isEqualTo(DnsSource.workerId(address("10.0.0.2"), 8000))
                .isNotEqualTo(DnsSource.workerId(address("10.0.0.2"), 8001));
        assertThat(first.partition().modelName()).isEqualTo("m");
        assertThat(first.kvEventsEndpointOf(0)).isEqualTo("tcp://10.0.0.2:5557");
        assertThat(first.kvEventsEndpointOf(1)).isEqualTo("tcp://10.0.0.2:5558");
    }

    @Test
    void dnsSource_sameRecordsInAnotherOrder_areNoChange() throws Exception {
        addresses = List.of(address("10.0.0.1"), address("10.0.0.2"));
        DnsSource source = dns();
        now(source.nextSnapshot());
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        addresses = List.of(address("10.0.0.2"), address("10.0.0.1"));
        time.advance(Duration.ofSeconds(60));
        assertThat(now(next)).isNull();
        assertThat(lookups).isEqualTo(13);

        addresses = List.of(address("10.0.0.3"));
        time.advance(Duration.ofSeconds(5));
        assertThat(now(next).orElseThrow().workers()).hasSize(1);
        assertThat(time.pending()).as("nobody asks, nobody looks").isZero();
    }

    @Test
    void dnsSource_failedLookups_keepTheLastStateAndAreReportedOnce() throws Exception {
        addresses = List.of(address("10.0.0.1"));
        DnsSource source = dns();
        now(source.nextSnapshot());
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        lookupFailure = new CompletionException(new UnknownHostException("workers.svc"));
        time.advance(Duration.ofSeconds(60));
        assertThat(now(next)).isNull();
        assertThat(problems).hasSize(1);
        assertThat(problems.get(0).source()).isEqualTo("workers.svc");

        lookupFailure = null;
        time.advance(Duration.ofSeconds(5));
        assertThat(now(next)).as("the same as before is no news").isNull();
        addresses = List.of();
        time.advance(Duration.ofSeconds(5));
        assertThat(now(next)).contains(CatalogSnapshot.empty());
    }

    @Test
    void dnsSource_resolverAnswersNonsense_isAFailedLookup() throws Exception {
        List<DnsResolver> faulty = List.of(name -> null, name -> CompletableFuture.completedStage(null), name -> {
            throw new NoClassDefFoundError("resolver");
        });
        for (DnsResolver resolver : faulty) {
            problems.clear();
            AtomicInteger asked = new AtomicInteger();
            List<InetAddress> known = List.of(address("10.0.0.1"));
            DnsSource source = DnsSource.builder(
                            "workers.svc",
                            8000,
                            name -> asked.incrementAndGet() == 2
                                    ? resolver.resolve(name)
                                    : CompletableFuture.completedStage(asked.get() < 2 ? known : List.of()),
                            time)
                    .observer(problems::add)
                    .build();
            now(source.nextSnapshot());
            CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
            time.advance(Duration.ofSeconds(5));
            assertThat(problems).hasSize(1);
            time.advance(Duration.ofSeconds(5));
            assertThat(now(next)).as("it looks again").contains(CatalogSnapshot.empty());
            source.close();
        }
    }

    @Test
    void dnsSource_firstLookupFails_failsTheQuestion() throws Exception {
        lookupFailure = new IllegalStateException("no server");
        DnsSource source = dns();
        assertThat(source.nextSnapshot().toCompletableFuture()).isCompletedExceptionally();
        assertThat(problems).isEmpty();
        lookupFailure = null;
        addresses = List.of(address("10.0.0.1"));
        assertThat(now(source.nextSnapshot())).isPresent();
    }

    @Test
    void dnsSource_closed_endsTheOpenQuestionAndTheLooking() throws Exception {
        addresses = List.of(address("10.0.0.1"));
        DnsSource source = dns();
        now(source.nextSnapshot());
        CompletionStage<Optional<CatalogSnapshot>> next = source.nextSnapshot();
        source.close();
        assertThat(now(next)).isEmpty();
        assertThat(time.pending()).isZero();
        assertThat(now(source.nextSnapshot())).isEmpty();
    }

    @Test
    void dnsSource_badSettings_areRefused() {
        assertThatThrownBy(() -> DnsSource.builder("x", 0, resolver, time)).isInstanceOf(BadRequestException.class);
        DnsSource.Builder builder = DnsSource.builder("x", 1, resolver, time);
        assertThatThrownBy(() -> builder.eventPorts(65_536, 1)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> builder.eventPorts(1, 0)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> builder.period(Duration.ZERO)).isInstanceOf(BadRequestException.class);
        builder.template(WorkerSpec.builder(0).dataParallelSize(3).build()).eventPorts(65_534, 1);
        assertThatThrownBy(builder::build).isInstanceOf(BadRequestException.class);
    }

    @Test
    void jdkResolver_literalAddress_answersItself() {
        DnsResolver jdk = DnsResolver.jdk(Runnable::run);
        assertThat(jdk.resolve("127.0.0.1").toCompletableFuture().getNow(null))
                .extracting(InetAddress::getHostAddress)
                .containsExactly("127.0.0.1");
        assertThat(jdk.resolve("no host at all").toCompletableFuture()).isCompletedExceptionally();
    }

    // ---- JSON ----

    private static List<WorkerSpec> read(String json) throws Exception {
        return WorkersJson.read(json.getBytes(StandardCharsets.UTF_8));
    }

    private static void refused(String json, String place) {
        assertThatThrownBy(() -> read("{\"workers\":[" + json + "]}"))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(place));
    }

    @Test
    void json_everyField_isRead() throws Exception {
        List<WorkerSpec> workers = read("""
                {"workers":[{"worker_id":18446744073709551615,"model_name":"m","routing_group":"g",
                "endpoint":"http://10.0.0.1:8000","kv_events_endpoint":"tcp://10.0.0.1:5557",
                "kv_events_endpoints":{"2":"tcp://10.0.0.1:5559"},"replay_endpoint":"tcp://10.0.0.1:6000",
                "block_size":16,"data_parallel_start_rank":2,"data_parallel_size":2,"max_num_batched_tokens":8192,
                "total_kv_blocks":"400","stable_routing_id":"stable","is_eagle":true,"taints":["a","b"],
                "topology_domains":{"zone":"z1"},"kv_transfer_domain":"zone","kv_transfer_enforcement":"preferred",
                "kv_transfer_preferred_weight":0.5,"router_hint_worker_type":"prefill",
                "router_hint_source_control_endpoints":{"3":"tcp://10.0.0.1:7000"},"kv_event_source_mode":"mode",
                "incarnation":"uid-1","lifecycle":"schedulable","not_schedulable_reasons":[]},
                {"worker_id":"7","endpoint":null}]}
                """);
        assertThat(workers.get(0).canonical())
                .isEqualTo(WorkerSpec.builder(-1)
                        .modelName("m")
                        .routingGroup("g")
                        .endpoint("http://10.0.0.1:8000")
                        .kvEventsEndpoint("tcp://10.0.0.1:5557")
                        .kvEventsEndpoints(java.util.Map.of(2, "tcp://10.0.0.1:5559"))
                        .replayEndpoint("tcp://10.0.0.1:6000")
                        .blockSize(16)
                        .dataParallelStartRank(2)
                        .dataParallelSize(2)
                        .maxNumBatchedTokens(8192L)
                        .totalKvBlocks(400L)
                        .stableRoutingId("stable")
                        .isEagle(true)
                        .taints(java.util.Set.of("a", "b"))
                        .topologyDomains(java.util.Map.of("zone", "z1"))
                        .kvTransferDomain("zone")
                        .kvTransferEnforcement(dev.tandemkv.catalog.KvTransferEnforcement.PREFERRED)
                        .kvTransferPreferredWeight(0.5)
                        .routerHintWorkerType("prefill")
                        .routerHintSourceControlEndpoints(java.util.Map.of(3, "tcp://10.0.0.1:7000"))
                        .kvEventSourceMode("mode")
                        .incarnation("uid-1")
                        .build()
                        .canonical());
        assertThat(workers.get(1)).isEqualTo(WorkerSpec.builder(7).build());
    }

    @Test
    void json_wrongValues_areRefusedNamingThePlace() {
        refused("{}", "workers[0].worker_id");
        refused("{\"worker_id\":-1}", "workers[0].worker_id");
        refused("{\"worker_id\":1.5}", "workers[0].worker_id");
        refused("{\"worker_id\":18446744073709551616}", "workers[0].worker_id");
        refused("{\"worker_id\":1,\"blocksize\":16}", "workers[0].blocksize");
        refused("{\"worker_id\":1,\"block_size\":4294967296}", "workers[0].block_size");
        refused("{\"worker_id\":1,\"endpoint\":5}", "workers[0].endpoint");
        refused("{\"worker_id\":1,\"is_eagle\":\"yes\"}", "workers[0].is_eagle");
        refused("{\"worker_id\":1,\"taints\":\"a\"}", "workers[0].taints");
        refused("{\"worker_id\":1,\"taints\":[1]}", "workers[0].taints");
        refused("{\"worker_id\":1,\"topology_domains\":[]}", "workers[0].topology_domains");
        refused("{\"worker_id\":1,\"kv_events_endpoints\":{\"x\":\"y\"}}", "workers[0].kv_events_endpoints");
        refused("{\"worker_id\":1,\"kv_transfer_enforcement\":\"REQUIRED\"}", "workers[0].kv_transfer_enforcement");
        refused("{\"worker_id\":1,\"kv_transfer_preferred_weight\":\"1\"}", "workers[0].kv_transfer_preferred_weight");
        refused("{\"worker_id\":1,\"total_kv_blocks\":0}", "workers[0].total_kv_blocks");
        refused("5", "workers[0]");
        assertThatThrownBy(() -> read("[]")).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> read("{\"workers\":[],\"more\":1}")).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> read("")).isInstanceOf(BadRequestException.class);
    }

    @Test
    void json_brokenText_namesLineAndColumn() {
        assertThatThrownBy(() -> read("{\"workers\":[{\"worker_id\":1,\"worker_id\":2}]}"))
                .hasMessageContaining("line 1");
        assertThatThrownBy(() -> read("{\"workers\":[]} x")).hasMessageContaining("line 1");
    }
}
