package dev.tandemkv.selection.internal;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyRegistry;
import dev.tandemkv.selection.policy.PolicyScope;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/** The policies of a core by the role of a partition's workers: given in code, else named by the configuration, else the built-in one. */
public final class RolePolicies implements CoreContext.Policies {

    private final SelectionConfig config;
    private final Function<PartitionKey, Role> roles;
    private final Map<Role, SelectionPolicy> policies = new EnumMap<>(Role.class);

    /** @throws dev.tandemkv.catalog.BadRequestException if the configuration names an unknown policy or a bad parameter */
    public RolePolicies(
            SelectionConfig config,
            PolicyRegistry registry,
            Function<PartitionKey, Role> roles,
            Map<Role, SelectionPolicy> given) {
        this.config = config;
        this.roles = roles;
        for (Role role : Role.values()) {
            SelectionPolicy own = given.get(role);
            policies.put(role, own == null ? registry.policyOf(config.workerSelection(), role) : own);
        }
    }

    private SelectionPolicy policyFor(Role role) {
        SelectionPolicy policy = policies.get(role);
        if (policy == null) {
            throw new IllegalStateException("no policy for role " + role);
        }
        return policy;
    }

    @Override
    public Role roleOf(PartitionKey partition) {
        return roles.apply(partition);
    }

    @Override
    public String nameFor(PartitionKey partition) {
        return policyFor(roles.apply(partition)).name();
    }

    @Override
    public PolicyComponents componentsFor(PartitionKey partition) {
        Role role = roles.apply(partition);
        return policyFor(role).componentsFor(new PolicyScope(partition, role, config.scoring()));
    }
}
