/** What each worker holds in its KV cache. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.indexer {
    requires transitive dev.tandemkv.catalog;
    requires static transitive org.jspecify;
    requires com.fasterxml.jackson.databind;
    requires org.slf4j;
    requires org.jctools.core;

    exports dev.tandemkv.indexer;
    exports dev.tandemkv.indexer.approximate;
    exports dev.tandemkv.indexer.dump;
    exports dev.tandemkv.indexer.event;
    exports dev.tandemkv.indexer.hash;
    exports dev.tandemkv.indexer.health;
}
