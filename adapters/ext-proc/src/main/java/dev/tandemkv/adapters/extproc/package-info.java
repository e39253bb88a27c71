/**
 * The endpoint picker of a Gateway API inference pool: an external processor that any grpc server can mount.
 *
 * <p>{@link dev.tandemkv.adapters.extproc.EndpointPickerService} translates one proxied request into calls of the library and holds no
 * routing rule of its own. {@link dev.tandemkv.adapters.extproc.PickerRouting} says who chooses, {@link
 * dev.tandemkv.adapters.extproc.PoolEndpoints} where workers listen, {@link dev.tandemkv.adapters.extproc.PickerHealth} answers the proxy's
 * health checks.
 */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.adapters.extproc;
