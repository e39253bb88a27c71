package dev.tandemkv.affinity;

import dev.tandemkv.catalog.SelectionException;

/** The table was closed under a handle that was still open. Kind {@link dev.tandemkv.catalog.SelectionException.Kind#INTERNAL}. */
public final class AffinityDroppedException extends SelectionException {

    private static final long serialVersionUID = 1L;

    public AffinityDroppedException() {
        super(Kind.INTERNAL, "session affinity was closed while a request held a session");
    }
}
