package dev.tandemkv.catalog;

/** The caller withdrew the operation; nothing of it is left behind. Kind {@link SelectionException.Kind#CANCELLED}. */
public final class CancelledException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** @param what the operation that was withdrawn */
    public CancelledException(String what) {
        super(Kind.CANCELLED, what + " was cancelled");
    }
}
