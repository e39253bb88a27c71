/** Which worker a session sticks to. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.affinity {
    requires transitive dev.tandemkv.catalog;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.tandemkv.affinity;
}
