/** JSON as it goes over the wire: reading requests with limits and exact errors, writing answers. No socket. */
package dev.tandemkv.adapters.http.internal.wire;
