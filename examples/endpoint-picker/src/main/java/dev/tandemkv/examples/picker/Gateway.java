package dev.tandemkv.examples.picker;

import java.net.URI;

/** What clients send their requests to: it asks the picker. */
interface Gateway extends AutoCloseable {

    /** For people. */
    String name();

    URI address();

    @Override
    void close();
}
