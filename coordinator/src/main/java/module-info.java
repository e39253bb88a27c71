/** Which prefill worker and which decode worker serve a request together, and how one request lives through its bookings. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.coordinator {
    requires transitive dev.tandemkv.selection;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.tandemkv.coordinator;
    exports dev.tandemkv.coordinator.host;
}
