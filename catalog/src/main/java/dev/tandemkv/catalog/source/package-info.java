/**
 * Where membership comes from and how it is applied: sources that answer complete snapshots, and the reconciler that makes a catalog
 * equal to the last one.
 *
 * <p>Starting points: {@link dev.tandemkv.catalog.source.WorkerCatalogSource} is the port, {@link
 * dev.tandemkv.catalog.source.CatalogReconciler} drives it.
 */
package dev.tandemkv.catalog.source;
