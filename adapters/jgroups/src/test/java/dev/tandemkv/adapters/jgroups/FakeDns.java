package dev.tandemkv.adapters.jgroups;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A DNS server on loopback that knows what a test told it. */
final class FakeDns implements AutoCloseable {

    private static final int A = 1;
    private static final int SRV = 33;
    private static final int ANSWER = 0x8580;
    private static final int NO_SUCH_NAME = 0x8583;

    /** A record as it stands in an answer. */
    private record Entry(int type, byte[] data) {}

    private final DatagramSocket socket =
            new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final Map<String, List<Entry>> entries = new ConcurrentHashMap<>();
    private final Thread server = new Thread(this::serve, "fake-dns");

    FakeDns() throws IOException {
        server.setDaemon(true);
        server.start();
    }

    String address() {
        return "127.0.0.1:" + socket.getLocalPort();
    }

    void addresses(String name, InetAddress... addresses) {
        entries.put(
                name,
                List.of(addresses).stream()
                        .map(address -> new Entry(A, address.getAddress()))
                        .toList());
    }

    void service(String name, String host, int port) {
        byte[] target = host.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer data = ByteBuffer.allocate(8 + target.length);
        data.putShort((short) 1).putShort((short) 1).putShort((short) port);
        data.put((byte) target.length).put(target).put((byte) 0);
        entries.put(name, List.of(new Entry(SRV, data.array())));
    }

    private void serve() {
        byte[] buffer = new byte[512];
        while (!socket.isClosed()) {
            DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
            try {
                socket.receive(packet);
                byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()));
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            } catch (IOException e) {
                return;
            }
        }
    }

    private byte[] answer(ByteBuffer question) throws IOException {
        short id = question.getShort();
        question.position(12);
        int from = question.position();
        StringBuilder name = new StringBuilder();
        for (int length = question.get(); length > 0; length = question.get()) {
            byte[] label = new byte[length];
            question.get(label);
            name.append(name.isEmpty() ? "" : ".").append(new String(label, StandardCharsets.US_ASCII));
        }
        int type = question.getShort();
        question.getShort();
        byte[] asked = new byte[question.position() - from];
        question.get(from, asked);
        List<Entry> known = entries.get(name.toString());
        List<Entry> found = known == null
                ? List.of()
                : known.stream().filter(entry -> entry.type() == type).toList();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeShort(id);
        out.writeShort(known == null ? NO_SUCH_NAME : ANSWER);
        out.writeShort(1);
        out.writeShort(found.size());
        out.writeInt(0);
        out.write(asked);
        for (Entry entry : found) {
            // The name is that of the question, which stands behind the header.
            out.writeShort(0xc00c);
            out.writeShort(entry.type());
            out.writeShort(1);
            out.writeInt(0);
            out.writeShort(entry.data().length);
            out.write(entry.data());
        }
        return bytes.toByteArray();
    }

    @Override
    public void close() {
        socket.close();
    }
}
