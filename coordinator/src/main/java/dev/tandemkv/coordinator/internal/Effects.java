package dev.tandemkv.coordinator.internal;

import java.util.ArrayList;
import java.util.List;

/** What a locked section wants done once the lock is free, in order. Confined to one call. */
final class Effects {

    private List<Runnable> actions = List.of();

    void add(Runnable action) {
        if (actions.isEmpty()) {
            actions = new ArrayList<>(4);
        }
        actions.add(action);
    }

    void run() {
        actions.forEach(Runnable::run);
    }
}
