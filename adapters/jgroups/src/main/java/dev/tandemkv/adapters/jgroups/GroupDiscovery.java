package dev.tandemkv.adapters.jgroups;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;

/**
 * Where a gateway that starts looks for the others, and where parts of a group that lost each other look again. Immutable. Whoever is found
 * names the rest, so that a list or a name need not be complete.
 */
public sealed interface GroupDiscovery {

    /**
     * The addresses of some members.
     *
     * @param addresses host and port of each, by name or resolved; a name that is not known yet is looked up again each time. May be empty:
     *     a gateway that waits to be found by the others. Its own address does no harm
     */
    record Members(List<InetSocketAddress> addresses) implements GroupDiscovery {
        public Members {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * A name in the DNS, asked anew each time.
     *
     * @param name what is asked for
     * @param kind which records
     * @param server {@code host:port} of the DNS server; empty, the default, for the system's
     */
    record Dns(String name, DnsRecords kind, String server) implements GroupDiscovery {
        public Dns {
            if (name.isBlank() || name.indexOf(',') >= 0) {
                throw new IllegalArgumentException("name: " + name + " (expected: one DNS name)");
            }
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(server, "server");
        }

        /** Asks this server instead of the system's. */
        public Dns at(String dnsServer) {
            return new Dns(name, kind, dnsServer);
        }
    }

    /** Which records of a name tell where members are. */
    enum DnsRecords {
        /** Addresses; every member listens on the same port, the one that this gateway binds. */
        ADDRESSES,
        /** Services, which name each member's port. Needs the module {@code jdk.naming.dns}. */
        SERVICES
    }

    /** By the addresses of some members. */
    static Members members(InetSocketAddress... addresses) {
        return new Members(List.of(addresses));
    }

    /** By the addresses behind a name; all members listen on the port that this one binds. */
    static Dns dns(String name) {
        return new Dns(name, DnsRecords.ADDRESSES, "");
    }

    /** By the SRV records of a name, for example {@code _group._tcp.gateways.example.org}. */
    static Dns services(String name) {
        return new Dns(name, DnsRecords.SERVICES, "");
    }

    /**
     * By the headless service in front of the gateways' pods. It must publish addresses that are not ready ({@code publishNotReadyAddresses:
     * true}), or two pods that start at once do not find each other until they are. No access to the API server is needed.
     *
     * @param service its name
     * @param namespace its namespace
     */
    static Dns kubernetes(String service, String namespace) {
        return dns(service + '.' + namespace + ".svc");
    }
}
