package dev.tandemkv.catalog;

/** The component was closed. Kind {@link SelectionException.Kind#SHUTDOWN}. */
public final class ShutdownException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** @param what the component that is closed */
    public ShutdownException(String what) {
        super(Kind.SHUTDOWN, what + " is closed");
    }
}
