package dev.tandemkv.catalog;

/** The call contradicts something that exists; that stays intact. Kind {@link SelectionException.Kind#CONFLICT}. */
public final class ConflictException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String what;
    private final String id;

    /**
     * @param what the kind of thing, for example {@code selection id}
     * @param id its id
     * @param detail what it conflicts with
     */
    public ConflictException(String what, String id, String detail) {
        super(Kind.CONFLICT, what + " " + id + ": " + detail);
        this.what = what;
        this.id = id;
    }

    public String what() {
        return what;
    }

    public String id() {
        return id;
    }
}
