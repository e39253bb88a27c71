/** The selection service and the index service over HTTP, and clients of both. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.adapters.http {
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.dataformat.yaml;
    requires io.netty.codec.http;
    requires transitive dev.tandemkv.selection;
    requires transitive io.vertx.core;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.tandemkv.adapters.http;
}
