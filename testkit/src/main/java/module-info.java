/** How to try routing without a fleet: fake engines, traces, the simulator and its reports. */
@org.jspecify.annotations.NullMarked
module dev.tandemkv.testkit {
    requires transitive dev.tandemkv.catalog;
    requires static transitive org.jspecify;
    requires com.fasterxml.jackson.core;

    exports dev.tandemkv.testkit.engine;
    exports dev.tandemkv.testkit.trace;
}
