package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.SelectionException;
import org.jspecify.annotations.Nullable;

/**
 * A failure as a log may show it: classes and places. The message is kept of the library's own exceptions only, which never quote a request;
 * a tokenizer, a pool or an observer of the host's may do so.
 */
final class Unquoted extends Exception {

    private static final long serialVersionUID = 1L;
    private static final int DEEPEST = 8;

    private Unquoted(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static @Nullable Throwable of(@Nullable Throwable failure) {
        return of(failure, DEEPEST);
    }

    private static @Nullable Throwable of(@Nullable Throwable failure, int depth) {
        if (failure == null || depth == 0) {
            return null;
        }
        boolean own = failure instanceof SelectionException || failure instanceof Refusal;
        String name = failure.getClass().getName();
        Unquoted shown =
                new Unquoted(own ? name + ": " + failure.getMessage() : name, of(failure.getCause(), depth - 1));
        shown.setStackTrace(failure.getStackTrace());
        return shown;
    }
}
