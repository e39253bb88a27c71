package dev.tandemkv.adapters.zmq.mesh;

/**
 * What a mesh did since it was started. An immutable snapshot. What the messages say is the core's to count.
 *
 * @param sent messages handed to the socket, once for all peers
 * @param sentBytes bytes of those messages, topics included
 * @param dropped messages given up because too many waited to be sent
 * @param congested messages that at least one slow peer did not get, because too many waited for it
 * @param received messages of peers
 * @param malformed messages that did not consist of a topic and a payload
 * @param foreign messages of topics that nobody here knows
 * @param joined subscriptions of peers, made anew ones included
 * @param peers peers listened to now
 */
public record MeshStats(
        long sent,
        long sentBytes,
        long dropped,
        long congested,
        long received,
        long malformed,
        long foreign,
        long joined,
        int peers) {}
