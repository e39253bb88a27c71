package dev.tandemkv.adapters.http.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallsTest {

    @Test
    void address_withoutAPort_hasTheServicesOwn() {
        assertThat(Calls.address(URI.create("http://index"), 8090)).hasToString("index:8090");
        assertThat(Calls.address(URI.create("HTTP://index:81/behind/"), 8090)).hasToString("index:81");
        assertThat(Calls.address(URI.create("http://[::1]"), 8092).port()).isEqualTo(8092);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nowhere", "index:8090", "https://index", "tcp://index:8090", "http:///path"})
    void address_thatIsNoneOfHttpWithoutTls_isRefused(String service) {
        assertThatThrownBy(() -> Calls.address(URI.create(service), 8090))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("service: " + service + " (expected: http://host:port)");
    }
}
