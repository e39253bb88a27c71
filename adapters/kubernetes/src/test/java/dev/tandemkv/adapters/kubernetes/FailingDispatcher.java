package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.HttpUrl;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The mock server's store, with the watches of a real server: a watch begins with what happened since its resource version, and {@code
 * 410 Gone} ends one that begins before what is still remembered. Failures concern one user agent.
 */
final class FailingDispatcher extends KubernetesCrudDispatcher implements AutoCloseable {

    static final String CONCERNED = "source-under-test";

    /** One write: what it did to the attributes of one object. */
    private record Change(
            long version,
            @Nullable AttributeSet before,
            @Nullable AttributeSet after,
            @Nullable String former,
            @Nullable String present) {

        @Nullable
        String eventFor(AttributeSet query) {
            boolean was = before != null && before.matches(query);
            boolean is = after != null && after.matches(query);
            if (!was && !is) {
                return null;
            }
            return is ? event(was ? "MODIFIED" : "ADDED", present) : event("DELETED", former);
        }
    }

    /** One request of the concerned client: a verb of RBAC on a resource. */
    record Access(
            String verb,
            String group,
            String resource,
            String namespace,
            @Nullable String name) {}

    private final ExecutorService sender = Executors.newSingleThreadExecutor();
    private final List<Access> accesses = new CopyOnWriteArrayList<>();
    private volatile Predicate<Access> refused = access -> false;
    private volatile int refusal;

    // Guarded by this list's monitor.
    private final List<Change> changes = new ArrayList<>();
    private final Set<Watch> watches = new HashSet<>();
    private long forgotten;

    /** Answers requests of the concerned client with a status from now on. */
    void refuse(int code, Predicate<Access> which) {
        refusal = code;
        refused = which;
    }

    void refuseNothing() {
        refused = access -> false;
    }

    List<Access> accesses() {
        return accesses;
    }

    int openWatches(String namespace) {
        synchronized (changes) {
            return (int) watches.stream()
                    .filter(watch -> watch.path.contains("/namespaces/" + namespace + '/'))
                    .count();
        }
    }

    /** Ends every watch. */
    void dropWatches() {
        open().forEach(watch -> sender.execute(() -> watch.socket.close(1001, "dropped")));
    }

    /** Forgets what has happened so far, and ends every watch with {@code 410 Gone}. */
    void expireWatches() {
        List<Watch> open;
        synchronized (changes) {
            changes.clear();
            forgotten = requestResourceVersion();
            open = List.copyOf(watches);
        }
        open.forEach(watch -> send(watch, event("ERROR", status(410))));
    }

    /** As {@link #expireWatches}, while nobody may be told: what a server that was restarted does. */
    void restart() {
        synchronized (changes) {
            changes.clear();
            forgotten = requestResourceVersion();
        }
        dropWatches();
    }

    private List<Watch> open() {
        synchronized (changes) {
            return List.copyOf(watches);
        }
    }

    private void send(Watch watch, String event) {
        sender.execute(() -> watch.socket.send(event));
    }

    @Override
    public MockResponse dispatch(RecordedRequest request) {
        if (CONCERNED.equals(request.getHeader("User-Agent"))) {
            Access access = access(request);
            accesses.add(access);
            if (refused.test(access)) {
                return new MockResponse().setResponseCode(refusal).setBody(status(refusal));
            }
        }
        boolean socket = request.getHeader("Upgrade") != null;
        return request.getPath().contains("watch=true") && !socket
                ? watchWithoutSocket(request.getPath())
                : super.dispatch(request);
    }

    /** The client's other way, which it tries where a socket is refused: an answer that is at its end as soon as it was sent. */
    private MockResponse watchWithoutSocket(String path) {
        Watch watch = watch(path);
        StringBuilder events = new StringBuilder();
        synchronized (changes) {
            for (String event : watch.events()) {
                events.append(event).append('\n');
            }
        }
        return new MockResponse().setResponseCode(200).setBody(events.toString());
    }

    private static Access access(RecordedRequest request) {
        HttpUrl url = Objects.requireNonNull(HttpUrl.parse("http://localhost" + request.getPath()));
        List<String> path = List.of(url.encodedPath().substring(1).split("/"));
        int namespaces = path.indexOf("namespaces");
        String group = path.get(0).equals("apis") ? path.get(1) : "";
        String fields = url.queryParameter("fieldSelector");
        String name = path.size() > namespaces + 3 ? path.get(namespaces + 3) : fields == null ? null : name(fields);
        boolean watch = "true".equals(url.queryParameter("watch"));
        boolean list = path.size() <= namespaces + 3;
        String verb =
                request.getMethod().equals("GET") ? (watch ? "watch" : list ? "list" : "get") : request.getMethod();
        return new Access(verb, group, path.get(namespaces + 2), path.get(namespaces + 1), name);
    }

    private static @Nullable String name(String fields) {
        return fields.startsWith("metadata.name=") ? fields.substring("metadata.name=".length()) : null;
    }

    @Override
    public void processEvent(
            String path,
            AttributeSet pathAttributes,
            AttributeSet oldAttributes,
            GenericKubernetesResource resource,
            String newState) {
        String former = oldAttributes == null ? null : map.get(oldAttributes);
        super.processEvent(path, pathAttributes, oldAttributes, resource, newState);
        if (Objects.equals(former, newState)) {
            return;
        }
        synchronized (changes) {
            long version = newState == null ? requestResourceVersion() : version(newState);
            AttributeSet after = newState == null
                    ? null
                    : AttributeSet.merge(pathAttributes, attributeExtractor.fromResource(newState));
            Change change = new Change(version, oldAttributes, after, withVersion(former, version), newState);
            changes.add(change);
            watches.forEach(watch -> watch.tell(change));
        }
    }

    private static long version(String object) {
        return Long.parseLong(Serialization.unmarshal(object, GenericKubernetesResource.class)
                .getMetadata()
                .getResourceVersion());
    }

    private static @Nullable String withVersion(@Nullable String object, long version) {
        if (object == null) {
            return null;
        }
        GenericKubernetesResource changed = Serialization.unmarshal(object, GenericKubernetesResource.class);
        changed.getMetadata().setResourceVersion(String.valueOf(version));
        return Serialization.asJson(changed);
    }

    private static String event(String type, @Nullable String object) {
        return "{\"type\":\"" + type + "\",\"object\":" + object + '}';
    }

    private static String status(int code) {
        return Serialization.asJson(new StatusBuilder()
                .withStatus("Failure")
                .withCode(code)
                .withMessage("refused with " + code)
                .build());
    }

    @Override
    public MockResponse handleWatch(String path) {
        return new MockResponse().withWebSocketUpgrade(watch(path));
    }

    private Watch watch(String path) {
        HttpUrl url = Objects.requireNonNull(HttpUrl.parse("http://localhost" + path));
        String since = url.queryParameter("resourceVersion");
        return new Watch(path, since == null ? 0 : Long.parseLong(since));
    }

    @Override
    public void close() {
        sender.shutdownNow();
    }

    private final class Watch extends WebSocketListener {
        private final String path;
        private final AttributeSet query;
        private final long since;
        private volatile WebSocket socket;

        Watch(String path, long since) {
            this.path = path;
            query = attributeExtractor.fromPath(path);
            this.since = since;
        }

        /** What it begins with; under the lock of the changes. */
        List<String> events() {
            return since < forgotten
                    ? List.of(event("ERROR", status(410)))
                    : changes.stream()
                            .map(this::eventOf)
                            .filter(Objects::nonNull)
                            .toList();
        }

        private @Nullable String eventOf(Change change) {
            return change.version > since ? change.eventFor(query) : null;
        }

        void tell(Change change) {
            String event = eventOf(change);
            if (event != null) {
                send(this, event);
            }
        }

        @Override
        public void onOpen(WebSocket opened, Response response) {
            socket = opened;
            synchronized (changes) {
                watches.add(this);
                events().forEach(event -> send(this, event));
            }
        }

        @Override
        public void onClosing(WebSocket closing, int code, String reason) {
            sender.execute(() -> closing.close(code, reason));
        }

        @Override
        public void onClosed(WebSocket closed, int code, String reason) {
            forget();
        }

        @Override
        public void onFailure(WebSocket failed, Throwable error, Response response) {
            forget();
        }

        private void forget() {
            synchronized (changes) {
                watches.remove(this);
            }
        }
    }
}
