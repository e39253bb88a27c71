package dev.tandemkv.adapters.kubernetes;

import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;

/** The versions of the {@code InferencePool} resource that can be read. */
public enum InferencePoolApi {
    /** {@code inference.networking.k8s.io/v1}: {@code spec.selector.matchLabels} and {@code spec.targetPorts}. */
    V1("inference.networking.k8s.io", "v1"),
    /** {@code inference.networking.x-k8s.io/v1alpha2}: {@code spec.selector} and {@code spec.targetPortNumber}. */
    V1ALPHA2("inference.networking.x-k8s.io", "v1alpha2");

    private final String group;
    private final String version;

    InferencePoolApi(String group, String version) {
        this.group = group;
        this.version = version;
    }

    /** The API group, as a role names it. */
    public String group() {
        return group;
    }

    public String version() {
        return version;
    }

    /** Complete, so that the client has nothing to look up at the server. */
    ResourceDefinitionContext resource() {
        return new ResourceDefinitionContext.Builder()
                .withGroup(group)
                .withVersion(version)
                .withKind("InferencePool")
                .withPlural("inferencepools")
                .withNamespaced(true)
                .build();
    }
}
