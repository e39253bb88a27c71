package dev.tandemkv.catalog;

/** Something failed in a way nobody foresaw; the cause says how. Kind {@link SelectionException.Kind#INTERNAL}. */
public final class InternalException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** @param what what was being done; never token ids, prompt text or a raw session id */
    public InternalException(String what, Throwable cause) {
        super(Kind.INTERNAL, what + " failed: " + cause, cause);
    }
}
