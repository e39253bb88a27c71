package dev.tandemkv.adapters.jgroups;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jgroups.JChannel;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.PerDestinationBundler;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.util.DefaultSocketFactory;
import org.jgroups.util.SocketFactory;
import org.jgroups.util.TLS;
import org.jgroups.util.TLSClientAuth;

/**
 * The protocols of a group, from the sockets up. One listening socket, and no more: JGroups' FD_SOCK2 would open another, which TLS does not
 * cover, so a broken connection of the transport is what makes a member suspect at once, and silence is what does later.
 */
final class Stack {

    /** What one packet of TCP may have; messages are cut to fit, so nothing longer comes from a member. */
    private static final int LONGEST_PACKET = 1 << 20;

    private static final int FRAGMENT = 60_000;

    /** Bytes that one member may have on their way to the slowest other before it waits. */
    private static final int CREDITS = 4 << 20;

    private static final long LONGEST_VERIFICATION_MILLIS = 1_500;
    private static final long LONGEST_HANDSHAKE_MILLIS = 2_000;

    private Stack() {}

    static JChannel channel(GroupSettings settings) throws Exception {
        TCP transport = transport(settings);
        JChannel channel = new JChannel(List.of(
                transport,
                // Whoever is found names all it knows: parts of a group find each other although no list is complete.
                Lookups.of(settings.discovery()).returnEntireCache(true),
                merge(settings),
                heartbeats(settings),
                verification(settings),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                membership(settings),
                new UFC().setMaxCredits(CREDITS),
                new MFC().setMaxCredits(CREDITS),
                new FRAG2().setFragSize(FRAGMENT)));
        // Once more: system properties meant for another group of this process may have moved it.
        bind(transport, settings.bind());
        return channel;
    }

    private static TCP transport(GroupSettings settings) {
        TCP transport = new TCP();
        bind(transport, settings.bind());
        transport.enableSuspectEvents(true).setMaxLength(LONGEST_PACKET).tcpNodelay(true);
        // A thread for each destination: while one connects to a member that hangs, the others are sent to.
        PerDestinationBundler bundler = new PerDestinationBundler();
        bundler.useSingleSenderThread(false);
        transport.setBundler(bundler);
        transport.setPortRange(0).useVirtualThreads(false);
        if (settings.security() instanceof GroupSecurity.MutualTls tls) {
            transport.tls(new HandshakesThatEnd(settings.suspectAfter())
                    .enabled(true)
                    .setSSLContext(tls.context())
                    .setProtocols(new String[] {"TLSv1.3"})
                    .setClientAuth(TLSClientAuth.NEED));
        }
        return transport;
    }

    private static void bind(TCP transport, InetSocketAddress to) {
        transport.setBindAddress(to.getAddress()).setBindPort(to.getPort());
        transport.setClientBindAddr(to.getAddress());
    }

    private static MERGE3 merge(GroupSettings settings) {
        long millis = settings.mergeEvery().toMillis();
        // In this order: the least is compared with the most that is set.
        return new MERGE3().setMinInterval(millis / 3).setMaxInterval(millis);
    }

    private static FD_ALL3 heartbeats(GroupSettings settings) {
        long millis = settings.suspectAfter().toMillis();
        return new FD_ALL3().setTimeout(millis).setInterval(Math.max(1, millis / 4));
    }

    private static VERIFY_SUSPECT2 verification(GroupSettings settings) {
        return new VERIFY_SUSPECT2()
                .setTimeout(Math.min(
                        LONGEST_VERIFICATION_MILLIS, settings.suspectAfter().toMillis() / 2));
    }

    private static GMS membership(GroupSettings settings) {
        GMS membership = new GMS().setJoinTimeout(settings.joinTimeout().toMillis());
        return membership.printLocalAddress(false);
    }

    /**
     * JGroups waits without a limit for the other end's part of a handshake. The limit is for that alone: a read that waits later is a member
     * with nothing to say.
     */
    private static final class HandshakesThatEnd extends TLS {
        private final int limitMillis;

        HandshakesThatEnd(Duration suspectAfter) {
            limitMillis = (int) Math.min(LONGEST_HANDSHAKE_MILLIS, suspectAfter.toMillis());
        }

        @Override
        public SocketFactory createSocketFactory(SSLContext context) {
            SocketFactory factory = super.createSocketFactory(context);
            if (factory instanceof DefaultSocketFactory configurable) {
                configurable.setSocketConfigurator(this::limit);
            }
            return factory;
        }

        private void limit(Socket socket) {
            if (socket instanceof SSLSocket secured) {
                waitAtMost(limitMillis, secured);
                secured.addHandshakeCompletedListener(done -> waitAtMost(0, done.getSocket()));
            }
        }

        private static void waitAtMost(int millis, Socket socket) {
            try {
                socket.setSoTimeout(millis);
            } catch (SocketException closed) {
                // Nobody waits for what is closed, and whoever uses it next is told.
            }
        }
    }
}
