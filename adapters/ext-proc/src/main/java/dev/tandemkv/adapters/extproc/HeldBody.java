package dev.tandemkv.adapters.extproc;

import com.google.protobuf.ByteString;

/**
 * What a picker holds of one request's body: it grows chunk by chunk until the request is complete, and goes back piece by piece. Chunks
 * are joined and cut by reference. At any time exactly its bytes are taken from the room. Touched in its exchange's turn only.
 */
final class HeldBody {

    private final BodyRoom room;
    private final int limit;
    private ByteString bytes = ByteString.EMPTY;

    HeldBody(BodyRoom room, int limit) {
        this.room = room;
        this.limit = limit;
    }

    /**
     * Adds a chunk.
     *
     * @return whether there was room for it
     * @throws Refusal if the body would be larger than one may be
     */
    boolean add(ByteString chunk) {
        if (chunk.size() > limit - bytes.size()) {
            throw Refusal.bodyTooLarge(limit);
        }
        if (!room.take(chunk.size())) {
            return false;
        }
        bytes = bytes.concat(chunk);
        return true;
    }

    ByteString bytes() {
        return bytes;
    }

    boolean isEmpty() {
        return bytes.isEmpty();
    }

    /** Takes the next piece away from the front. */
    ByteString next(int largest) {
        ByteString piece = bytes.substring(0, Math.min(largest, bytes.size()));
        bytes = bytes.substring(piece.size());
        room.give(piece.size());
        return piece;
    }

    void drop() {
        room.give(bytes.size());
        bytes = ByteString.EMPTY;
    }
}
