package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class GroupSettingsTest {

    private static final GroupDiscovery NOBODY = GroupDiscovery.members();
    private static final InetSocketAddress HERE = new InetSocketAddress("127.0.0.1", 7800);

    @Test
    void defaults_areThoseOfThePage() {
        GroupSettings settings = GroupSettings.builder(HERE, NOBODY).build();
        assertThat(settings.cluster()).isEqualTo("tandemkv");
        assertThat(settings.security()).isEqualTo(GroupSecurity.open());
        assertThat(settings.outboundBookings()).isEqualTo(100_000);
        assertThat(settings.outboundSessions()).isEqualTo(4_096);
        assertThat(settings.maxMessageBytes()).isEqualTo(32 << 20);
        assertThat(settings.joinTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(settings.suspectAfter()).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.mergeEvery()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void whatIsWrong_isNamed() {
        refused("cluster", builder -> builder.cluster(" "));
        refused("outboundBookings", builder -> builder.outboundBookings(0));
        refused("outboundSessions", builder -> builder.outboundSessions(0));
        refused("maxMessageBytes", builder -> builder.maxMessageBytes(0));
        refused("joinTimeout", builder -> builder.joinTimeout(Duration.ZERO));
        refused("suspectAfter", builder -> builder.suspectAfter(Duration.ofHours(2)));
        refused("mergeEvery", builder -> builder.mergeEvery(Duration.ofMillis(1)));
    }

    @Test
    void bind_isOneAddress_andAPortThatOthersFind() {
        for (InetSocketAddress wrong : new InetSocketAddress[] {
            new InetSocketAddress(7800), InetSocketAddress.createUnresolved("no-such-host.invalid", 7800),
        }) {
            assertThatThrownBy(() -> GroupSettings.builder(wrong, NOBODY).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("bind");
        }
        InetSocketAddress anyPort = new InetSocketAddress("127.0.0.1", 0);
        assertThatThrownBy(() -> GroupSettings.builder(anyPort, GroupDiscovery.dns("gateways.test"))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0");
        assertThat(GroupSettings.builder(anyPort, NOBODY).build().bind().getPort())
                .isZero();
    }

    private static void refused(String field, Function<GroupSettings.Builder, GroupSettings.Builder> wrong) {
        assertThatThrownBy(
                        () -> wrong.apply(GroupSettings.builder(HERE, NOBODY)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(field + ":");
    }
}
