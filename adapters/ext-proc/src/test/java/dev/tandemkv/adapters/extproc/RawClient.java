package dev.tandemkv.adapters.extproc;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** An HTTP/1.1 client that sends what it is told, byte by byte if need be. */
final class RawClient implements AutoCloseable {

    private final Socket socket;
    private final InputStream in;

    RawClient(URI server) throws IOException {
        socket = new Socket(server.getHost(), server.getPort());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
        return this;
    }

    /** The beginning of a request whose body is sent in chunks. */
    RawClient beginChunked(String... headers) throws IOException {
        return begin("transfer-encoding: chunked", headers);
    }

    RawClient begin(String length, String... headers) throws IOException {
        StringBuilder head = new StringBuilder("POST /v1/completions HTTP/1.1\r\nhost: gateway\r\n" + length + "\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        return send(head + "\r\n");
    }

    RawClient chunk(String text) throws IOException {
        return send(Integer.toHexString(text.getBytes(StandardCharsets.UTF_8).length) + "\r\n" + text + "\r\n");
    }

    RawClient end() throws IOException {
        return send("0\r\n\r\n");
    }

    /** The status of the answer that comes next, its headers passed over; -1 if the server closes, politely or not. */
    int status() throws IOException {
        try {
            String first = line();
            while (!line().isEmpty()) {
                // A header.
            }
            return first.isEmpty() ? -1 : Integer.parseInt(first.split(" ")[1]);
        } catch (SocketException reset) {
            return -1;
        }
    }

    String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (c != '\r') {
                line.write(c);
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    /** Everything until the server closes. */
    String rest() throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
