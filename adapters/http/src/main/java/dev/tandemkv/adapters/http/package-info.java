/** The selection service over HTTP, and clients of it. Start with {@link dev.tandemkv.adapters.http.SelectionService}. */
package dev.tandemkv.adapters.http;
