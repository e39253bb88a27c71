package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Key stores as docs/replicas.md makes one: one self-signed certificate in a PKCS #12 file. */
final class KeyStores {

    static final char[] PASSWORD = "only a test".toCharArray();

    private KeyStores() {}

    static Path make(Path directory, String name) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        String options = "-genkeypair -alias gateway -keyalg EC -dname CN=" + name + " -validity 2 -storetype PKCS12";
        List<String> command = new ArrayList<>(List.of(keytool.toString()));
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of("-keystore", file.toString(), "-storepass", new String(PASSWORD)));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile())
                .start();
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return file;
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
