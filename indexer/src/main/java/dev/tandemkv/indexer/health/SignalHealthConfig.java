package dev.tandemkv.indexer.health;

/**
 * When the cache signal counts as sick.
 *
 * @param lookups so many prompts in a row without an event, or without a match, raise an alarm; at least 1; default 256
 * @param reports how many of the last reports of engines are judged together; at least 1; default 128
 * @param tolerance a prediction is right if it is off by at most this share of the prompt; 0 to 1; default 0.25
 * @param wrongShare share of wrong predictions in one direction, among the judged reports, above which an alarm is raised; 0 to 1; default 0.5
 */
public record SignalHealthConfig(int lookups, int reports, double tolerance, double wrongShare) {

    /** All defaults. */
    public static final SignalHealthConfig DEFAULTS = new SignalHealthConfig(256, 128, 0.25, 0.5);

    public SignalHealthConfig {
        if (lookups < 1) {
            throw new IllegalArgumentException("lookups: " + lookups + " (expected: >= 1)");
        }
        if (reports < 1) {
            throw new IllegalArgumentException("reports: " + reports + " (expected: >= 1)");
        }
        requireShare("tolerance", tolerance);
        requireShare("wrongShare", wrongShare);
    }

    private static void requireShare(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: 0 to 1)");
        }
    }
}
