package dev.tandemkv.adapters.jgroups;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.util.Collections;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Who may join a group and who may read along. Immutable.
 *
 * <p>With {@link #mutualTls mutual TLS} every connection of the group, those that look for members and watch over them included, is TLS 1.3,
 * and both ends show a certificate that the other trusts. It keeps out whoever has no such certificate: they cannot join, read, change,
 * inject or replay anything, and nothing that they send is looked at. It does not keep out a stolen certificate, tell one member from
 * another, or stop somebody from using up connections: names are not compared, so trust only an authority that signs gateways alone.
 */
public sealed interface GroupSecurity {

    /** Nothing is encrypted and nobody is asked who they are: for a network that only gateways reach. */
    record Open() implements GroupSecurity {}

    /**
     * Every connection is encrypted, and both ends prove who they are.
     *
     * @param context the certificate that this member shows, and those that it trusts
     */
    record MutualTls(SSLContext context) implements GroupSecurity {
        public MutualTls {
            Objects.requireNonNull(context, "context");
        }
    }

    /** Nothing is encrypted and nobody is asked who they are. */
    static GroupSecurity open() {
        return new Open();
    }

    /** With a context of the host's. */
    static GroupSecurity mutualTls(SSLContext context) {
        return new MutualTls(context);
    }

    /**
     * With one PKCS #12 file: its key is shown, and the key's certificate and those that stand in the file by themselves are trusted. So one
     * file, with one self-signed certificate, is enough for all gateways, as a shared secret would be. An authority that is only the end of
     * the key's chain is not trusted by that: it may vouch for more than gateways.
     *
     * @throws IllegalArgumentException if the file cannot be read with this password, or has no key: nobody would let such a member in
     */
    static GroupSecurity mutualTls(Path keyStore, char[] password) {
        try (InputStream file = Files.newInputStream(keyStore)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(file, password);
            requireKey(store);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, password);
            TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(store);
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
            return new MutualTls(context);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "keyStore: " + keyStore + " (expected: a PKCS #12 file with a key, and its password)", e);
        }
    }

    private static void requireKey(KeyStore store) throws KeyStoreException {
        for (String alias : Collections.list(store.aliases())) {
            if (store.entryInstanceOf(alias, KeyStore.PrivateKeyEntry.class)) {
                return;
            }
        }
        throw new KeyStoreException("no private key");
    }
}
