package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Key stores as docs/replicas.md makes one: one self-signed certificate in a PKCS #12 file. Two for all tests, made at once. */
final class KeyStores {

    static final char[] PASSWORD = "only a test".toCharArray();

    private static final Map<String, Path> MADE = new HashMap<>();

    private KeyStores() {}

    /** What members show. */
    static Path ours() throws Exception {
        return made().get("ours");
    }

    /** What somebody else shows. */
    static Path another() throws Exception {
        return made().get("another");
    }

    private static synchronized Map<String, Path> made() throws Exception {
        if (MADE.isEmpty()) {
            Path directory = Files.createTempDirectory("tandemkv-keys");
            directory.toFile().deleteOnExit();
            Map<String, Process> making = new HashMap<>();
            for (String name : List.of("ours", "another")) {
                making.put(name, start(file(directory, name), name));
            }
            for (Map.Entry<String, Process> each : making.entrySet()) {
                assertThat(each.getValue().waitFor(40, TimeUnit.SECONDS)).isTrue();
                assertThat(each.getValue().exitValue()).isZero();
            }
            making.keySet().forEach(name -> MADE.put(name, file(directory, name)));
        }
        return MADE;
    }

    private static Path file(Path directory, String name) {
        Path file = directory.resolve(name + ".p12");
        file.toFile().deleteOnExit();
        return file;
    }

    private static Process start(Path file, String name) throws IOException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        String options = "-genkeypair -alias gateway -keyalg EC -dname CN=" + name + " -validity 2 -storetype PKCS12";
        List<String> command = new ArrayList<>(List.of(keytool.toString()));
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of("-keystore", file.toString(), "-storepass", new String(PASSWORD)));
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** A context that shows the key of a store and takes anybody for a member, as who wants to get in would. */
    static SSLContext trustingAnybody(Path keyStore) throws Exception {
        KeyStore store = KeyStore.getInstance(keyStore.toFile(), PASSWORD);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), new TrustManager[] {new TrustingAnybody()}, null);
        return context;
    }

    private static final class TrustingAnybody implements X509TrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {
            // Welcome.
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            // Welcome.
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
