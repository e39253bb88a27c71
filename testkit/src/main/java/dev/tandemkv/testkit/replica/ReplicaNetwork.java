package dev.tandemkv.testkit.replica;

/** A way to connect gateways that is to be checked, as a test of it lends it to {@link ReplicaChannelContract}. One thread. */
public interface ReplicaNetwork extends AutoCloseable {

    /** One more gateway; returns once it and all that are there hear each other. */
    ReplicaGateway join();

    /** Ends a gateway as a process that dies: what it has booked is not freed, and it tells nobody anything. */
    void kill(ReplicaGateway gateway);

    /** Ends all that is left, in order. */
    @Override
    void close();
}
