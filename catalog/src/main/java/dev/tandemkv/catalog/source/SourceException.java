package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.SelectionException;
import org.jspecify.annotations.Nullable;

/** A source could not learn the membership this time. Kind {@link dev.tandemkv.catalog.SelectionException.Kind#UNAVAILABLE}. */
public final class SourceException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String source;

    /**
     * @param source what could not be read, for example a path or a name
     * @param problem what is wrong with it
     */
    public SourceException(String source, String problem, @Nullable Throwable cause) {
        super(Kind.UNAVAILABLE, source + ": " + problem, cause);
        this.source = source;
    }

    /** What could not be read. */
    public String source() {
        return source;
    }
}
