package dev.tandemkv.testkit.engine.wire;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The way of live messages from a publisher to its subscribers, on which messages get lost, doubled, swapped or garbled when it is told so.
 * What it does to a message never reaches the publisher's ring. Not thread-safe; deterministic for a seed.
 */
public final class FaultyLine {

    /** What can happen to a message. */
    public enum Fault {
        /** It does not arrive. */
        DROP,
        /** It arrives twice. */
        DUPLICATE,
        /** It arrives behind the message after it. */
        REORDER,
        /** It arrives as something that cannot be read: other bytes, cut off, another number of frames, or a number of another length. */
        GARBAGE
    }

    private final RandomGenerator random;
    private final ArrayDeque<Fault> due = new ArrayDeque<>();
    private @Nullable List<byte[]> heldBack;

    /** @param random what garbage looks like */
    public FaultyLine(RandomGenerator random) {
        this.random = Objects.requireNonNull(random, "random");
    }

    /**
     * Lets a fault happen to messages that come.
     *
     * @param messages to how many, behind those that already have theirs; at least 1
     */
    public void inject(Fault fault, int messages) {
        Objects.requireNonNull(fault, "fault");
        if (messages < 1) {
            throw new IllegalArgumentException("messages: " + messages + " (expected: >= 1)");
        }
        for (int i = 0; i < messages; i++) {
            due.add(fault);
        }
    }

    /** What arrives, in order, when a message is sent. */
    public List<List<byte[]>> send(List<byte[]> message) {
        Fault fault = due.poll();
        if (fault == Fault.REORDER && heldBack == null) {
            heldBack = message;
            return List.of();
        }
        List<List<byte[]>> arriving = new ArrayList<>();
        if (fault == Fault.GARBAGE) {
            arriving.add(garbled(message));
        } else if (fault != Fault.DROP) {
            arriving.add(message);
        }
        if (fault == Fault.DUPLICATE) {
            arriving.add(message);
        }
        if (heldBack != null) {
            arriving.add(heldBack);
            heldBack = null;
        }
        return arriving;
    }

    /** Forgets what is under way and what was to happen. */
    public void reset() {
        due.clear();
        heldBack = null;
    }

    private List<byte[]> garbled(List<byte[]> message) {
        byte[] topic = message.get(0);
        byte[] number = message.get(1);
        byte[] payload = message.get(2);
        return switch (random.nextInt(4)) {
            case 0 -> List.of(topic, number, noise(1 + random.nextInt(64)));
            case 1 -> List.of(topic, number, Arrays.copyOf(payload, payload.length - 1));
            case 2 -> List.of(topic, number, payload, noise(8));
            default -> List.of(topic, Arrays.copyOf(number, 7), payload);
        };
    }

    /** Bytes that begin with the one that the format never uses. */
    private byte[] noise(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        bytes[0] = (byte) 0xc1;
        return bytes;
    }
}
