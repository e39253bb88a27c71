package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.catalog.BadRequestException;
import java.util.List;

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
        int at = arguments.indexOf(option);
        if (at < 0) {
            return otherwise;
        }
        arguments.remove(at);
        String value = at < arguments.size() ? arguments.remove(at) : "none";
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

    /** @throws BadRequestException if there are any left */
    static void requireNone(List<String> arguments) {
        if (!arguments.isEmpty()) {
            throw new BadRequestException(arguments.get(0), "given", "a known option");
        }
    }
}
