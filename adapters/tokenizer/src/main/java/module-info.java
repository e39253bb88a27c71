import org.jspecify.annotations.NullMarked;

/** From a client's request to token ids. */
@NullMarked
module dev.tandemkv.adapters.tokenizer {
    requires transitive dev.tandemkv.catalog;
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.databind;
    requires java.net.http;
    requires static transitive org.jspecify;

    exports dev.tandemkv.adapters.tokenizer;
}
