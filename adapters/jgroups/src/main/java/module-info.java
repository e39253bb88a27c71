/** Gateways form a group and tell each other their bookings and session bindings over JGroups. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.adapters.jgroups {
    requires transitive dev.tandemkv.selection;
    requires java.naming;
    requires org.jgroups;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.tandemkv.adapters.jgroups;
}
