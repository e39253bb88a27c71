package dev.tandemkv.selection.host;

import dev.tandemkv.selection.SelectRequest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which workers a request may use, as the host's discovery sees it. Asked once per attempt, inside the partition step. */
@FunctionalInterface
public interface AvailableWorkers {

    /** Worker ids; {@code null} means no information, an empty set rejects all. */
    @Nullable
    Set<Long> availableTo(SelectRequest request);
}
