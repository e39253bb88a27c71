/** Who the workers are, and the time, randomness and error vocabulary that every module shares. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.catalog {
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires com.fasterxml.jackson.databind;

    exports dev.tandemkv.catalog;
    exports dev.tandemkv.catalog.source;
    exports dev.tandemkv.catalog.time;
}
