package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.SelectionException;
import org.jspecify.annotations.Nullable;

/** A dump that cannot be believed: cut short, damaged, of an unknown version, or contradicting itself. Nothing of it was applied. */
public final class MalformedDumpException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String field;

    MalformedDumpException(String field, String problem, @Nullable Throwable cause) {
        super(Kind.BAD_REQUEST, field + ": " + problem, cause);
        this.field = field;
    }

    /** Where in the dump, as far as known. */
    public String field() {
        return field;
    }
}
