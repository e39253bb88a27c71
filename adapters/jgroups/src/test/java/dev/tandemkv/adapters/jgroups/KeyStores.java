package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

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
}
