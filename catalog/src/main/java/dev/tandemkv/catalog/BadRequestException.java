package dev.tandemkv.catalog;

/** A value that cannot be accepted; nothing was changed. Kind {@link SelectionException.Kind#BAD_REQUEST}. */
public final class BadRequestException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String field;
    private final String value;
    private final String expectation;

    /**
     * @param field name of the offending field, as the caller knows it
     * @param value the offending value as text; never token ids, prompt text or a raw session id
     * @param expectation what would have been accepted
     */
    public BadRequestException(String field, Object value, String expectation) {
        super(Kind.BAD_REQUEST, field + ": " + value + " (expected: " + expectation + ")");
        this.field = field;
        this.value = String.valueOf(value);
        this.expectation = expectation;
    }

    public String field() {
        return field;
    }

    public String value() {
        return value;
    }

    /** What would have been accepted. */
    public String expectation() {
        return expectation;
    }
}
