package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.adapters.jgroups.GroupDiscovery.Dns;
import dev.tandemkv.adapters.jgroups.GroupDiscovery.DnsRecords;
import dev.tandemkv.adapters.jgroups.GroupDiscovery.Members;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import javax.naming.NamingException;
import org.jgroups.Address;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.dns.DNSResolver.DNSRecordType;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.protocols.dns.DefaultDNSResolver;

/** JGroups' protocols for {@link GroupDiscovery}. */
final class Lookups {

    private static final String DNS_OF_THE_JDK = "com.sun.jndi.dns.DnsContextFactory";

    private Lookups() {}

    static Discovery of(GroupDiscovery discovery) throws NamingException {
        if (discovery instanceof Dns dns) {
            DNS_PING named = new DNS_PING().setDNSQuery(dns.name()).setDNSAddress(dns.server());
            return dns.kind() == DnsRecords.ADDRESSES
                    ? named.dnsRecordType(DNSRecordType.A.name())
                    : named.dnsRecordType(DNSRecordType.SRV.name()).dnsResolver(new Services(dns.server()));
        }
        return new Listed(((Members) discovery).addresses());
    }

    /**
     * A list of members, by name, looked up again until it is known. Differs from JGroups' in one thing: the own port may be 0, which JGroups
     * refuses beside a list because nobody could list this member; here somebody may, by the port it took.
     */
    private static final class Listed extends TCPPING {

        Listed(List<InetSocketAddress> addresses) {
            setId(ClassConfigurator.getProtocolId(TCPPING.class));
            port_range = 0;
            initial_hosts_str = addresses.stream()
                    .map(address -> address.getHostString() + '[' + address.getPort() + ']')
                    .collect(Collectors.joining(","));
        }

        @Override
        public boolean isDynamic() {
            return getTransport().getBindPort() == 0;
        }
    }

    /** Answers of the DNS end in a dot, with which the hosts file knows nobody. */
    private static final class Services extends DefaultDNSResolver {

        Services(String server) throws NamingException {
            super(DNS_OF_THE_JDK, server);
        }

        @Override
        protected List<Address> resolveIPEntries(String host, String port) {
            List<Address> found = super.resolveIPEntries(host, port);
            return found.isEmpty() && host.endsWith(".")
                    ? super.resolveIPEntries(host.substring(0, host.length() - 1), port)
                    : found;
        }
    }
}
