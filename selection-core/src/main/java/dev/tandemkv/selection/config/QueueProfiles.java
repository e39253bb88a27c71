package dev.tandemkv.selection.config;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Queue classes by model.
 *
 * @param root the profile of models that have none of their own, or {@code null}
 * @param byModel profile of each model that has its own
 */
public record QueueProfiles(@Nullable QueueProfile root, Map<String, QueueProfile> byModel) {

    public static final QueueProfiles NONE = new QueueProfiles(null, Map.of());

    public QueueProfiles {
        byModel = Map.copyOf(byModel);
    }

    /** The profile of a model, or {@code null} if neither it nor the root has one. */
    public @Nullable QueueProfile of(String modelName) {
        QueueProfile own = byModel.get(modelName);
        return own == null ? root : own;
    }
}
