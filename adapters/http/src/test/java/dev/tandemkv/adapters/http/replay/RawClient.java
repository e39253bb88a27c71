package dev.tandemkv.adapters.http.replay;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** One HTTP/1.1 connection that sends exactly what it is told and reads exactly what comes back. */
public final class RawClient implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 10_000;

    /** An answer; header names in lower case. */
    public record Answer(int status, Map<String, String> headers, byte[] body) {

        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    private final Socket socket;
    private final InputStream in;

    public RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
    }

    public void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    public void send(String method, String path, Map<String, String> headers, byte[] body) throws IOException {
        send(request(method, path, headers, body));
    }

    public static byte[] request(String method, String path, Map<String, String> headers, byte[] body)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringBuilder head = new StringBuilder(method + ' ' + path + " HTTP/1.1\r\nhost: test\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        boolean plain = method.equals("GET") || method.equals("HEAD") || method.equals("DELETE");
        if (body.length > 0 || !plain) {
            head.append("content-length: ").append(body.length).append("\r\n");
        }
        head.append("\r\n");
        out.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        out.write(body);
        return out.toByteArray();
    }

    /** Whether an answer, or the end of the connection, is there to be read. */
    public boolean hasInput() throws IOException {
        return in.available() > 0;
    }

    /** The next answer; fails with {@link EOFException} if the connection was closed without one. */
    public Answer receive(String method) throws IOException {
        String statusLine = line();
        while (statusLine.startsWith("HTTP/1.1 100")) {
            line();
            statusLine = line();
        }
        Map<String, String> headers = new HashMap<>();
        for (String header = line(); !header.isEmpty(); header = line()) {
            int colon = header.indexOf(':');
            headers.put(
                    header.substring(0, colon).toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).trim());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = method.equals("HEAD") ? new byte[0] : in.readNBytes(length);
        return new Answer(Integer.parseInt(statusLine.split(" ")[1]), headers, body);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("connection closed without an answer");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
