/** The server side: connections, one exchange, routes, and what each route calls in the library. */
package dev.tandemkv.adapters.http.internal.server;
