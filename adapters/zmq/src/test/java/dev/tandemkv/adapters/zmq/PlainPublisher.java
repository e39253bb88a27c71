package dev.tandemkv.adapters.zmq;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * A publisher of ZMTP 3.0 that is a TCP socket and nothing else. So it can be known what the other side has read: all, once it closed the
 * connection whose end it was shown.
 */
final class PlainPublisher {

    private static final int GREETING = 64;
    private static final int MORE = 1;
    private static final int COMMAND = 4;

    private PlainPublisher() {}

    /** Connects to a subscriber, publishes a message of two frames, and ends; the subscriber's socket has read both when this returns. */
    static void speakAndEnd(String subscriber, String topic, String text) {
        URI address = URI.create(subscriber);
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            out.write(greeting());
            new DataInputStream(in).readFully(new byte[GREETING]);
            frame(out, COMMAND, ready());
            frame(out, MORE, topic.getBytes(StandardCharsets.UTF_8));
            frame(out, 0, text.getBytes(StandardCharsets.UTF_8));
            socket.shutdownOutput();
            in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Signature, version 3.0, and the mechanism's name, padded. */
    private static byte[] greeting() {
        byte[] greeting = new byte[GREETING];
        greeting[0] = (byte) 0xff;
        greeting[9] = 0x7f;
        greeting[10] = 3;
        byte[] mechanism = "NULL".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(mechanism, 0, greeting, 12, mechanism.length);
        return greeting;
    }

    private static byte[] ready() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        shortText(body, "READY");
        shortText(body, "Socket-Type");
        body.writeBytes(new byte[] {0, 0, 0});
        shortText(body, "PUB");
        return body.toByteArray();
    }

    private static void shortText(ByteArrayOutputStream to, String text) {
        to.write(text.length());
        to.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void frame(OutputStream to, int flags, byte[] body) throws IOException {
        to.write(flags);
        to.write(body.length);
        to.write(body);
    }
}
