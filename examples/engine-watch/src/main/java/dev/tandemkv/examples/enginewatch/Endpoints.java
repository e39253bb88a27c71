package dev.tandemkv.examples.enginewatch;

/** The endpoints of a data-parallel engine: the port grows with the rank. */
final class Endpoints {

    private Endpoints() {}

    /**
     * The endpoint of one rank.
     *
     * @param option where the base was given, for the message
     * @param base {@code tcp://HOST:PORT} of rank 0; a port of {@code *} stays
     * @throws UsageException if the base is none, or the port too large
     */
    static String ofRank(String option, String base, int rank) {
        int colon = base.lastIndexOf(':');
        String port = base.substring(colon + 1);
        if (!base.startsWith("tcp://") || colon <= "tcp://".length() || !port.matches("[0-9]{1,5}|\\*")) {
            throw new UsageException(option, base, "tcp://HOST:PORT");
        }
        if (port.equals("*")) {
            return base;
        }
        int ofRank = Integer.parseInt(port) + rank;
        if (ofRank < 1 || ofRank > 65_535) {
            throw new UsageException(option, base, "ports from 1 to 65535, one per rank");
        }
        return base.substring(0, colon + 1) + ofRank;
    }
}
