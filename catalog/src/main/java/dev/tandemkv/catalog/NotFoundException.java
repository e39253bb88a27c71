package dev.tandemkv.catalog;

/** Something named in a call does not exist. Kind {@link SelectionException.Kind#NOT_FOUND}. */
public final class NotFoundException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String what;
    private final String id;

    /**
     * @param what the kind of thing, for example {@code worker}
     * @param id the id that was not found
     */
    public NotFoundException(String what, String id) {
        super(Kind.NOT_FOUND, what + " not found: " + id);
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
