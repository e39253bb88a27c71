package dev.tandemkv.adapters.http;

import dev.tandemkv.catalog.SelectionException;

/** A service answered a call with an error. Of the facts behind it only the kind and the text came over the wire. */
public final class HttpServiceException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final int status;

    /**
     * @param kind as the service said, or as its status lets one think
     * @param status HTTP status of the answer
     * @param text what the service said
     */
    public HttpServiceException(Kind kind, int status, String text) {
        super(kind, text, null, StackTrace.OMITTED);
        this.status = status;
    }

    /** HTTP status of the answer. */
    public int status() {
        return status;
    }
}
