package dev.tandemkv.adapters.jgroups;

/**
 * What a member did since it joined. An immutable snapshot. What the messages say is the core's to count.
 *
 * @param sent messages handed to the group, once for all members
 * @param sentBytes bytes of those messages, without what JGroups adds
 * @param dropped messages given up: too many waited, one was too long, or the group took none any more
 * @param received messages of other members
 * @param malformed messages that were none of ours
 * @param foreign messages of topics that nobody here knows
 * @param joined times that another member began to listen to a topic
 * @param views times that the membership changed, as this member saw it
 * @param merges those of them that brought parts of the group together
 * @param members members now, this one included
 */
public record GroupStats(
        long sent,
        long sentBytes,
        long dropped,
        long received,
        long malformed,
        long foreign,
        long joined,
        long views,
        long merges,
        int members) {}
