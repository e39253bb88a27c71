package dev.tandemkv.adapters.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.tandemkv.selection.SessionContext;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the headers of a request say, values that do not parse being absent.
 *
 * @param pin the worker that a trusted client names, or {@code null}
 * @param prefillPin the same for the prefill leg
 * @param session from the session headers, or {@code null}
 * @param priority a trusted client's; 0 if absent
 * @param strictPriority a trusted client's, unsigned; 0 if absent
 * @param tenant cache namespace, or {@code null}
 * @param subset addresses that the gateway allows, or {@code null} for all
 * @param toRemove control headers that the client sent
 * @param identified whether there is a request id
 * @param tunnel whether the connection becomes something else than HTTP requests, a websocket for example
 */
record RequestHead(
        @Nullable Pin pin,
        @Nullable Pin prefillPin,
        @Nullable SessionContext session,
        int priority,
        int strictPriority,
        @Nullable String tenant,
        @Nullable Set<String> subset,
        List<String> toRemove,
        boolean identified,
        boolean tunnel) {

    /**
     * A worker that a client names.
     *
     * @param rank {@code null}: any of its ranks; 0 is a rank like others
     */
    record Pin(long workerId, @Nullable Integer rank) {}

    /** @throws Refusal if the headers are too large */
    static RequestHead of(HeaderMap headers, Metadata metadata, PickerSettings settings) {
        Map<String, String> values = new HashMap<>();
        List<String> toRemove = new ArrayList<>();
        long bytes = 0;
        for (HeaderValue header : headers.getHeadersList()) {
            ByteString raw = header.getRawValue();
            String value = raw.isEmpty() ? header.getValue() : raw.toStringUtf8();
            bytes += header.getKey().length() + value.length();
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (HeaderNames.isControl(name) && !toRemove.contains(name)) {
                toRemove.add(name);
            }
            if (!value.isBlank()) {
                values.put(name, value.strip());
            }
        }
        if (bytes > settings.maxHeaderBytes()) {
            throw Refusal.headersTooLarge(bytes, settings.maxHeaderBytes());
        }
        boolean trusted = settings.clientHeaders() == PickerSettings.ClientHeaders.TRUSTED;
        return new RequestHead(
                trusted ? pin(values, HeaderNames.WORKER_NAMES, HeaderNames.RANK_NAMES) : null,
                trusted ? pin(values, HeaderNames.PREFILL_WORKER_NAMES, HeaderNames.PREFILL_RANK_NAMES) : null,
                session(values, settings),
                trusted ? number(values.get(HeaderNames.PRIORITY)) : 0,
                trusted ? unsigned(values.get(HeaderNames.STRICT_PRIORITY)) : 0,
                values.get(HeaderNames.TENANT),
                subset(metadata),
                List.copyOf(toRemove),
                values.containsKey(HeaderNames.REQUEST_ID),
                tunnel(values));
    }

    private static boolean tunnel(Map<String, String> values) {
        if ("CONNECT".equals(values.get(":method"))) {
            return true;
        }
        // Websockets begin with GET, over HTTP/2 too once a proxy has translated them. HTTP/2 itself, which clients
        // offer with any request, may be declined.
        return "GET".equals(values.get(":method"))
                && tokens(values, "upgrade").anyMatch(token -> !token.equalsIgnoreCase("h2c"))
                && tokens(values, "connection").anyMatch(token -> token.equalsIgnoreCase("upgrade"));
    }

    private static Stream<String> tokens(Map<String, String> values, String header) {
        return Stream.of(values.getOrDefault(header, "").split(",", -1))
                .map(String::strip)
                .filter(token -> !token.isEmpty());
    }

    private static @Nullable SessionContext session(Map<String, String> values, PickerSettings settings) {
        for (String header : settings.sessionHeaders()) {
            String id = values.get(header);
            if (id != null) {
                String last = values.get(HeaderNames.SESSION_FINAL);
                return new SessionContext(
                        id, values.get(HeaderNames.PARENT_SESSION), last == null ? null : Boolean.valueOf(last), null);
            }
        }
        return null;
    }

    private static @Nullable Pin pin(Map<String, String> values, List<String> worker, List<String> rank) {
        String id = first(values, worker);
        if (id == null) {
            return null;
        }
        try {
            return new Pin(Long.parseUnsignedLong(id), rank(first(values, rank)));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable Integer rank(@Nullable String text) {
        try {
            int rank = text == null ? HeaderNames.UNSET_RANK : Integer.parseUnsignedInt(text);
            return rank == HeaderNames.UNSET_RANK ? null : rank;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable String first(Map<String, String> values, List<String> names) {
        for (String name : names) {
            String value = values.get(name);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    private static int number(@Nullable String text) {
        try {
            return text == null ? 0 : Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static int unsigned(@Nullable String text) {
        try {
            return text == null ? 0 : Integer.parseUnsignedInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static @Nullable Set<String> subset(Metadata metadata) {
        Struct hint = metadata.getFilterMetadataMap().get(HeaderNames.SUBSET_NAMESPACE);
        Value value = hint == null ? null : hint.getFieldsMap().get(HeaderNames.SUBSET);
        if (value == null) {
            return null;
        }
        Set<String> addresses = new LinkedHashSet<>();
        if (value.hasListValue()) {
            value.getListValue().getValuesList().forEach(each -> add(addresses, each.getStringValue()));
        } else {
            for (String each : value.getStringValue().split(",", -1)) {
                add(addresses, each);
            }
        }
        return addresses;
    }

    private static void add(Set<String> addresses, String address) {
        if (!address.isBlank()) {
            addresses.add(address.strip());
        }
    }

    /** Where the proxy sent a request, as it tells with the answer's headers, or {@code null}. */
    static @Nullable String served(Metadata metadata) {
        Struct fields = metadata.getFilterMetadataMap().get(HeaderNames.METADATA_NAMESPACE);
        Value value = fields == null ? null : fields.getFieldsMap().get(HeaderNames.SERVED);
        return value == null || value.getStringValue().isBlank()
                ? null
                : value.getStringValue().strip();
    }
}
