package dev.tandemkv.adapters.enginewire.neutral;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which cache groups of one rank belong to the model's main attention. A hybrid model keeps several caches and announces one hash under
 * several groups; only the main attention says how long a prefix is held. Stores teach what a group is; removals only ask.
 *
 * <p>Not thread-safe; confined to the normaliser.
 */
final class GroupFilter {

    /** More groups than any model has; further ones are not learned. */
    private static final int MAX_GROUPS = 1_024;

    private static final Set<String> MAIN = Set.of("full_attention", "mla_attention", "sink_full_attention");
    private static final Set<String> NOT_MAIN = Set.of(
            "sliding_window",
            "sliding_window_mla",
            "chunked_local_attention",
            "mamba",
            "cross_attention",
            "encoder_only_attention");

    private final Map<Integer, Boolean> mainByGroup = new HashMap<>();

    void teach(@Nullable Integer group, @Nullable String kind) {
        if (group != null && kind != null && (mainByGroup.containsKey(group) || mainByGroup.size() < MAX_GROUPS)) {
            mainByGroup.put(group, MAIN.contains(kind));
        }
    }

    /** Why an event of this group must be dropped, or {@code null} if it must not. */
    @Nullable
    DropReason judge(@Nullable Integer group, @Nullable String kind) {
        if (kind != null) {
            return MAIN.contains(kind)
                    ? null
                    : NOT_MAIN.contains(kind) ? DropReason.NON_MAIN_ATTENTION_KIND : DropReason.UNKNOWN_KIND;
        }
        if (group == null) {
            return null;
        }
        Boolean main = mainByGroup.get(group);
        if (main == null) {
            return group == 0 ? null : DropReason.UNLEARNED_GROUP_IDX;
        }
        return main ? null : DropReason.NON_MAIN_ATTENTION_GROUP;
    }
}
