/** A gateway that names what it uses of Tandem KV, and Micrometer's core for its registry. */
module com.example.gateway {
    requires dev.tandemkv.adapters.micrometer;
    requires dev.tandemkv.coordinator;
    requires dev.tandemkv.selection;
}
