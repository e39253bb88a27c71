/** Which worker serves a request, and what is booked on it. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.selection {
    requires transitive dev.tandemkv.affinity;
    requires transitive dev.tandemkv.catalog;
    requires transitive dev.tandemkv.indexer;
    requires static transitive org.jspecify;
    requires transitive com.fasterxml.jackson.databind;
    requires com.github.benmanes.caffeine;
    requires org.jctools.core;
    requires org.slf4j;

    exports dev.tandemkv.selection;
    exports dev.tandemkv.selection.config;
    exports dev.tandemkv.selection.explain;
    exports dev.tandemkv.selection.host;
    exports dev.tandemkv.selection.policy;
}
