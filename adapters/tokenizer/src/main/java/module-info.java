import org.jspecify.annotations.NullMarked;

/** From a client's request to token ids. */
@NullMarked
module dev.tandemkv.adapters.tokenizer {
    requires transitive dev.tandemkv.catalog;
    requires dev.tandemkv.indexer;
    requires transitive java.net.http;
    requires com.fasterxml.jackson.core;
    requires static transitive org.jspecify;

    exports dev.tandemkv.adapters.tokenizer;
}
