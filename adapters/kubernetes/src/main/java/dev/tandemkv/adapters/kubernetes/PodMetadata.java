package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.BadRequestException;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The labels and annotations of one pod, read strictly. What cannot be read becomes a fault and counts as not given, so that the faults
 * of a pod are found at once, up to a bound: one annotation can hold a hundred thousand. For one thread.
 */
final class PodMetadata {

    /** An annotation may have 256 KiB; a reason should not. */
    private static final int LONGEST_SHOWN = 80;

    private static final int MOST_FAULTS = 32;

    /** An annotation can hold a hundred thousand taints, and every decision would look at them. */
    private static final int MOST_PARTS = 256;

    private final Map<String, String> labels;
    private final Map<String, String> annotations;
    private final List<String> faults = new ArrayList<>();

    PodMetadata(Pod pod) {
        labels = Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
        annotations = Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }

    @Nullable
    String label(String name) {
        return labels.get(name);
    }

    /** The annotation, or the label of that name. */
    @Nullable
    String text(String name) {
        String annotation = annotations.get(name);
        return annotation == null ? labels.get(name) : annotation;
    }

    @Nullable
    Long number(String name, long least, long most) {
        String text = text(name);
        if (text == null) {
            return null;
        }
        Long number = parsed(text.strip());
        if (number == null || number < least || number > most) {
            fault(name, text, "a number, " + least + " to " + most);
            return null;
        }
        return number;
    }

    @Nullable
    Integer integer(String name, int least, int most) {
        Long number = number(name, least, most);
        return number == null ? null : Integer.valueOf(number.intValue());
    }

    private static @Nullable Long parsed(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    @Nullable
    Double fraction(String name) {
        String text = text(name);
        if (text == null) {
            return null;
        }
        try {
            double value = Double.parseDouble(text);
            if (value >= 0 && value <= 1) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Told below, as a number outside the range is.
        }
        fault(name, text, "a number, 0 to 1");
        return null;
    }

    @Nullable
    Boolean flag(String name) {
        String text = text(name);
        if (text == null || "true".equals(text) || "false".equals(text)) {
            return text == null ? null : Boolean.valueOf(text);
        }
        fault(name, text, "true or false");
        return null;
    }

    /** Parts separated by commas; empty where there is nothing. */
    Set<String> list(String name) {
        Set<String> parts = new LinkedHashSet<>();
        parts(name).forEach(parts::add);
        return parts;
    }

    /** Parts of the form {@code key=value}. */
    Map<String, String> pairs(String name) {
        Map<String, String> pairs = new LinkedHashMap<>();
        parts(name).forEach(part -> {
            int equals = part.indexOf('=');
            String key = equals < 0 ? "" : part.substring(0, equals).strip();
            String value = part.substring(equals + 1).strip();
            if (key.isEmpty() || value.isEmpty() || pairs.put(key, value) != null) {
                fault(name, part, "key=value, each key once");
            }
        });
        return pairs;
    }

    private Stream<String> parts(String name) {
        String text = text(name);
        if (text == null) {
            return Stream.empty();
        }
        List<String> parts = Stream.of(text.split(",", -1))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
        if (parts.size() > MOST_PARTS) {
            fault(name, parts.size() + " parts", "at most " + MOST_PARTS);
            return Stream.empty();
        }
        return parts.stream();
    }

    void fault(String name, Object value, String expectation) {
        if (faults.size() == MOST_FAULTS) {
            return;
        }
        String shown = String.valueOf(value);
        if (shown.length() > LONGEST_SHOWN) {
            shown = shown.substring(0, LONGEST_SHOWN) + "...";
        }
        fault(new BadRequestException(name, shown, expectation));
    }

    void fault(BadRequestException reason) {
        if (faults.size() < MOST_FAULTS) {
            faults.add(String.valueOf(reason.getMessage()));
        }
    }

    /** The first of them. */
    List<String> faults() {
        return faults;
    }
}
