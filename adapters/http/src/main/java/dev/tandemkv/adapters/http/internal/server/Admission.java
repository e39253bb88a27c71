package dev.tandemkv.adapters.http.internal.server;

/** Counts what the clients of a service have booked. Thread-safe. */
public interface Admission {

    /** Counts nothing and refuses nobody. */
    Admission UNLIMITED = new Admission() {
        @Override
        public boolean enter(String client) {
            return true;
        }

        @Override
        public void booked(String client, String selectionId) {}

        @Override
        public void leave(String client) {}

        @Override
        public int limit() {
            return Integer.MAX_VALUE;
        }
    };

    /** Counts a request that may become a booking; false if the client has as many as it may. */
    boolean enter(String client);

    /** The request became a booking. */
    void booked(String client, String selectionId);

    /** The request became none. */
    void leave(String client);

    /** Most bookings of one client. */
    int limit();
}
