/**
 * The vocabulary of the library: worker identity, worker metadata, the port through which membership reaches a core, and the one
 * error hierarchy.
 *
 * <p>Starting points: {@link dev.tandemkv.catalog.WorkerSpec} describes a worker, {@link dev.tandemkv.catalog.WorkerCatalog} is
 * where it is registered, {@link dev.tandemkv.catalog.SelectionException} is what fails.
 */
package dev.tandemkv.catalog;
