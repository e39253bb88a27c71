package dev.tandemkv.selection.policy;

/** Makes a policy of one type from the parameters in a file; called once at start-up, fails then. */
@FunctionalInterface
public interface PolicyProvider {

    /**
     * @param parameters what the file says; whatever is not asked for is refused afterwards
     * @throws dev.tandemkv.catalog.BadRequestException naming the parameter
     */
    SelectionPolicy create(PolicyParameters parameters);
}
