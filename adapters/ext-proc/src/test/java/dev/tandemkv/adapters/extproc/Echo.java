package dev.tandemkv.adapters.extproc;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** An engine's websocket, as far as a proxy sees it: it takes one connection, agrees to speak otherwise, and repeats what it hears. */
final class Echo implements AutoCloseable {

    /** The request that began it, or why there was none. */
    final CompletableFuture<String> asked = new CompletableFuture<>();

    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final Thread thread = new Thread(this::serve, "echo");

    Echo() throws IOException {
        thread.setDaemon(true);
        thread.start();
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    private void serve() {
        try (Socket client = server.accept()) {
            client.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(client.getInputStream());
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
                int next = in.read();
                if (next < 0) {
                    throw new EOFException("in the head: " + head.toString(StandardCharsets.US_ASCII));
                }
                head.write(next);
            }
            asked.complete(head.toString(StandardCharsets.US_ASCII));
            client.getOutputStream()
                    .write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            in.transferTo(client.getOutputStream());
        } catch (IOException e) {
            asked.completeExceptionally(e);
        }
    }

    /** Takes no connection any more; the one that it took ends with its client. */
    @Override
    public void close() throws IOException {
        server.close();
    }
}
