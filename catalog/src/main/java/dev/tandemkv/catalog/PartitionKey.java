package dev.tandemkv.catalog;

import java.util.Comparator;
import java.util.Objects;

/**
 * Names one partition: the workers of one routing group that serve one model. A partition has one index, one ledger, one queue.
 *
 * @param modelName model name; the empty string is a name of its own
 * @param routingGroup routing group; the empty string is a name of its own
 */
public record PartitionKey(String modelName, String routingGroup) {

    /** The name that a missing model or group stands for. */
    public static final String DEFAULT_NAME = "default";

    /** {@code default:default}. */
    public static final PartitionKey DEFAULT = new PartitionKey(DEFAULT_NAME, DEFAULT_NAME);

    /** Order by model, then group: the order of every listing. */
    public static final Comparator<PartitionKey> ORDER =
            Comparator.comparing(PartitionKey::modelName).thenComparing(PartitionKey::routingGroup);

    public PartitionKey {
        Objects.requireNonNull(modelName, "modelName");
        Objects.requireNonNull(routingGroup, "routingGroup");
    }

    /** The default group of a model. */
    public static PartitionKey ofModel(String modelName) {
        return new PartitionKey(modelName, DEFAULT_NAME);
    }

    /** {@code model:group}, the key of a dump. */
    @Override
    public String toString() {
        return modelName + ':' + routingGroup;
    }
}
