package dev.tandemkv.affinity;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Locale;

/** How strictly a binding constrains the selection. */
public enum AffinityMode {
    /** The bound worker is a requirement while it is eligible. The default. */
    HARD,
    /** The bound worker is a preference; a selection that moves away rebinds the session. */
    SOFT;

    /**
     * Reads {@code hard} or {@code soft}, exactly as written.
     *
     * @throws BadRequestException for anything else
     */
    public static AffinityMode parse(String text) {
        for (AffinityMode mode : values()) {
            if (mode.wireName().equals(text)) {
                return mode;
            }
        }
        throw new BadRequestException("session_affinity_mode", text, "hard or soft");
    }

    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
