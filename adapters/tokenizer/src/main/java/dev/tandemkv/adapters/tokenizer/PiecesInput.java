package dev.tandemkv.adapters.tokenizer;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads pieces one after the other, leaving their own positions alone. */
final class PiecesInput extends InputStream {

    private final List<ByteBuffer> pieces;
    private int at;

    PiecesInput(List<ByteBuffer> pieces) {
        this.pieces = pieces.stream().map(ByteBuffer::asReadOnlyBuffer).toList();
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
        while (at < pieces.size() && !pieces.get(at).hasRemaining()) {
            at++;
        }
        if (at == pieces.size()) {
            return -1;
        }
        int count = Math.min(length, pieces.get(at).remaining());
        pieces.get(at).get(into, offset, count);
        return count;
    }
}
