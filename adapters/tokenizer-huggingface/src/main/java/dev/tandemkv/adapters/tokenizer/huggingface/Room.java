package dev.tandemkv.adapters.tokenizer.huggingface;

/** How many prompts, and bytes of them, may be here at once. Any thread; guarded by its own monitor, under which nothing else runs. */
final class Room {

    private final int maxPrompts;
    private final long maxBytes;
    private int prompts;
    private long bytes;

    Room(int maxPrompts, long maxBytes) {
        this.maxPrompts = maxPrompts;
        this.maxBytes = maxBytes;
    }

    synchronized boolean enter(long size) {
        if (prompts == maxPrompts || size > maxBytes - bytes) {
            return false;
        }
        prompts++;
        bytes += size;
        return true;
    }

    synchronized void leave(long size) {
        prompts--;
        bytes -= size;
    }
}
