package dev.tandemkv.selection.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.catalog.BadRequestException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A builder that starts from a configuration loses nothing of it, whichever component of whichever group differs. */
class SelectionConfigRoundTripTest {

    /** Components that are valid together alone are varied from the second one. */
    private static final List<SelectionConfig> FROM = List.of(
            SelectionConfig.DEFAULTS,
            SelectionConfig.builder()
                    .trackingHash(TrackingConfig.TrackingHash.KEYED_XXH3_V1)
                    .trackingHashKeyFile(Path.of("key"))
                    .trackingHashKeyId("id")
                    .useKvEvents(false)
                    .sessionAffinityTtl(Duration.ofMinutes(1))
                    .sessionAffinityMode(AffinityMode.SOFT)
                    .build());

    @Test
    void toBuilder_eachComponentChanged_buildsTheOriginal() throws ReflectiveOperationException {
        Map<String, Set<Object>> kept = new LinkedHashMap<>();
        for (SelectionConfig from : FROM) {
            for (String leaf : leaves("", from).keySet()) {
                for (Object value : others(leaves("", from).get(leaf), leaf)) {
                    SelectionConfig changed;
                    try {
                        changed = (SelectionConfig) with(from, "", leaf, value);
                    } catch (BadRequestException invalidBesideTheOthers) {
                        continue;
                    }
                    assertThat(changed.toBuilder().build())
                            .as(leaf + " " + value)
                            .isEqualTo(changed);
                    kept.computeIfAbsent(leaf, any -> new HashSet<>()).add(value);
                }
            }
            assertThat(from.toBuilder().build()).isEqualTo(from);
            leaves("", from)
                    .forEach((leaf, value) ->
                            kept.computeIfAbsent(leaf, any -> new HashSet<>()).add(String.valueOf(value)));
        }
        assertThat(kept)
                .isNotEmpty()
                .allSatisfy((leaf, values) -> assertThat(values).as(leaf).hasSizeGreaterThan(1));
        assertThat(kept).containsKeys(".sessions.table.mode", ".sessions.table.maxLeaseAge", ".queue.threshold");
    }

    @Test
    void toBuilder_withoutATtl_keepsWhatWasChosenForTheSessions() {
        SelectionConfig config = SelectionConfig.builder()
                .sessionAffinityMode(AffinityMode.SOFT)
                .sessionAffinityMaxEntries(9)
                .build();
        assertThat(config.sessions().sticky()).isFalse();

        SelectionConfig sticky =
                config.toBuilder().sessionAffinityTtl(Duration.ofMinutes(1)).build();

        assertThat(sticky.sessions().sticky()).isTrue();
        assertThat(sticky.sessions().table())
                .isEqualTo(AffinityConfig.builder(Duration.ofMinutes(1))
                        .mode(AffinityMode.SOFT)
                        .maxEntries(9)
                        .build());
        assertThat(sticky.toBuilder().sessionAffinityTtl(null).build()).isEqualTo(config);
    }

    // ---- records by their components

    private static boolean isGroup(RecordComponent component) {
        return component.getType().isRecord()
                && component.getType() != QueueProfiles.class
                && component.getType() != WorkerSelection.class;
    }

    /** Every component that is no group, by its path. */
    private static Map<String, Object> leaves(String path, Object group) throws ReflectiveOperationException {
        Map<String, Object> leaves = new LinkedHashMap<>();
        for (RecordComponent component : group.getClass().getRecordComponents()) {
            Object value = component.getAccessor().invoke(group);
            String here = path + '.' + component.getName();
            if (isGroup(component)) {
                leaves.putAll(leaves(here, value));
            } else {
                leaves.put(here, value == null ? component.getType() : value);
            }
        }
        return leaves;
    }

    private static Object with(Object group, String path, String leaf, Object value)
            throws ReflectiveOperationException {
        RecordComponent[] components = group.getClass().getRecordComponents();
        Object[] arguments = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            String here = path + '.' + components[i].getName();
            Object present = components[i].getAccessor().invoke(group);
            arguments[i] = here.equals(leaf)
                    ? value
                    : isGroup(components[i]) && leaf.startsWith(here + '.')
                            ? with(present, here, leaf, value)
                            : present;
        }
        Constructor<?> canonical = group.getClass()
                .getConstructor(
                        Arrays.stream(components).map(RecordComponent::getType).toArray(Class[]::new));
        try {
            return canonical.newInstance(arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof BadRequestException refused) {
                throw refused;
            }
            throw e;
        }
    }

    /** Values that a component could have instead; where it has none, the type of it is given. */
    private static List<Object> others(Object value, String leaf) {
        if (value instanceof Boolean flag) {
            return List.of(!flag);
        }
        if (value instanceof Integer number) {
            return List.of(2 * number, number + 1);
        }
        if (value instanceof Long number) {
            return List.of(number + 1);
        }
        if (value instanceof Double number) {
            return List.of(number / 2, number + 0.5);
        }
        if (value instanceof Duration time) {
            return List.of(time.plusSeconds(1), time.dividedBy(2));
        }
        if (value instanceof Enum<?> choice) {
            return Stream.<Object>of(choice.getDeclaringClass().getEnumConstants())
                    .filter(other -> other != choice)
                    .toList();
        }
        if (value instanceof QueueProfiles) {
            return List.of(new QueueProfiles(QueueProfile.single(0.5, QueuePolicy.WSPT), Map.of()));
        }
        if (value instanceof WorkerSelection) {
            return List.of(new WorkerSelection(Map.of(WorkerSelection.Role.DECODE, "default"), List.of()));
        }
        if (value == String.class || value instanceof String) {
            return List.of("another");
        }
        if (value == Path.class || value instanceof Path) {
            return List.of(Path.of("another"));
        }
        if (value == Double.class) {
            return List.of(0.25);
        }
        if (value == Duration.class) {
            return List.of(Duration.ofSeconds(7));
        }
        throw new AssertionError("no other value is known for " + leaf + ": " + Objects.toString(value));
    }
}
