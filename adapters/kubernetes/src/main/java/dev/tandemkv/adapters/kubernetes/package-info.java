/** Workers from Kubernetes: the pods of a label selector, or of an inference pool of the Gateway API. */
@NullMarked
package dev.tandemkv.adapters.kubernetes;

import org.jspecify.annotations.NullMarked;
