package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who waits until a worker of one partition has no booking left. Confined to the partition step; what it causes runs outside. */
public final class DrainWaits {

    private final Roster roster;
    private final BookingLedger ledger;
    private final Mailbox mailbox;
    private final Map<Long, List<Runnable>> waits = new HashMap<>();

    DrainWaits(Roster roster, BookingLedger ledger, Mailbox mailbox) {
        this.roster = roster;
        this.ledger = ledger;
        this.mailbox = mailbox;
    }

    /** Runs the action once a worker has no booking left. */
    public void when(long workerId, Runnable action) {
        waits.computeIfAbsent(workerId, id -> new ArrayList<>()).add(action);
        look();
    }

    /** Nobody waits for the action any more. */
    public void forget(long workerId, Runnable action) {
        waits.computeIfPresent(workerId, (id, actions) -> {
            actions.remove(action);
            return actions.isEmpty() ? null : actions;
        });
    }

    /** How many wait. */
    public int size() {
        return waits.values().stream().mapToInt(List::size).sum();
    }

    /** Tells those whose worker has become idle, or has left. */
    void look() {
        if (!waits.isEmpty()) {
            waits.entrySet().removeIf(wait -> {
                boolean idle = roster.rowsOf(wait.getKey()).stream().allMatch(row -> ledger.activeRequests(row) == 0);
                if (idle) {
                    wait.getValue().forEach(mailbox::afterwards);
                }
                return idle;
            });
        }
    }
}
