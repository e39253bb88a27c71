package dev.tandemkv.adapters.kubernetes;

/** What a pod serves where prefill and decode are apart. A pod without a role serves both. */
public enum WorkerRole {
    PREFILL("prefill"),
    DECODE("decode");

    private final String label;

    WorkerRole(String label) {
        this.label = label;
    }

    /** The value of the role label, and the routing group of the role where no other partition is given. */
    public String label() {
        return label;
    }
}
