/** The client side: one call, its cancellation, and what its failure means. */
package dev.tandemkv.adapters.http.internal.client;
