package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.catalog.BadRequestException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options of the modes that have no settings. */
final class Arguments {

    private Arguments() {}

    /**
     * Takes a number out of a list of arguments.
     *
     * @param otherwise where the option is not given
     * @throws BadRequestException naming the option
     */
    static int number(List<String> arguments, String option, int otherwise, int least, int most) {
        String value = take(arguments, option);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Refused below, like a number that is out of range.
        }
        throw new BadRequestException(option, value, least + " to " + most);
    }

    /** What stands behind the option, or behind its equals sign; {@code null} where the option is not given. */
    private static @Nullable String take(List<String> arguments, String option) {
        for (int at = 0; at < arguments.size(); at++) {
            if (arguments.get(at).startsWith(option + '=')) {
                return arguments.remove(at).substring(option.length() + 1);
            }
            if (arguments.get(at).equals(option)) {
                arguments.remove(at);
                return at < arguments.size() ? arguments.remove(at) : "none";
            }
        }
        return null;
    }

    /** @throws BadRequestException if there are any left */
    static void requireNone(List<String> arguments) {
        if (!arguments.isEmpty()) {
            throw new BadRequestException(arguments.get(0), "given", "a known option");
        }
    }
}
