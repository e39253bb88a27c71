package dev.tandemkv.indexer.health;

/**
 * Told when an alarm begins and ends. Called by the thread whose sample decided it, never under a lock. What it throws is logged and
 * swallowed.
 */
public interface SignalObserver {

    /** The alarm holds from now on. */
    void onRaised(SignalAlarm alarm);

    /** A healthy sample ended it. */
    void onCleared(SignalAlarm alarm);
}
