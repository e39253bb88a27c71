package dev.tandemkv.selection.config;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger counts.
 *
 * @param activeBlocks whether prompt blocks are booked; if not, a request projects {@code ceil(isl / block size)} blocks; default true
 * @param outputBlocks tells the host to report output blocks; needs {@code activeBlocks}; default false
 * @param assumeKvReuse whether equal prefixes share blocks; false gives every block a random tracking hash; default true
 * @param prefillTokens whether prefill load is charged and read; default true
 * @param hash how prompts are hashed for the ledger; default {@link TrackingHash#PUBLIC_XXH3_V1}
 * @param hashKeyFile file with the 32-byte key of the keyed hash
 * @param hashKeyId name of that key
 * @param prefillLoadModel how long a prefill is expected to take; needs {@code prefillTokens}; default {@link PrefillLoadModel#NONE}
 */
public record TrackingConfig(
        boolean activeBlocks,
        boolean outputBlocks,
        boolean assumeKvReuse,
        boolean prefillTokens,
        TrackingHash hash,
        @Nullable Path hashKeyFile,
        @Nullable String hashKeyId,
        PrefillLoadModel prefillLoadModel) {

    /** How prompts are hashed for the ledger; the index always uses the public hashes. */
    public enum TrackingHash {
        PUBLIC_XXH3_V1,
        KEYED_XXH3_V1
    }

    /** Whether booked prefill load decays by an expected duration. */
    public enum PrefillLoadModel {
        /** It stays until the prefill completes. */
        NONE,
        /** The host's estimator is asked once per booking. */
        AIC
    }

    public TrackingConfig {
        Objects.requireNonNull(hash, "hash");
        Objects.requireNonNull(prefillLoadModel, "prefillLoadModel");
        Check.that(
                activeBlocks || !outputBlocks,
                "router_track_output_blocks",
                outputBlocks,
                "false while router_track_active_blocks is false");
        Check.that(
                prefillTokens || prefillLoadModel == PrefillLoadModel.NONE,
                "router_prefill_load_model",
                prefillLoadModel,
                "none while router_track_prefill_tokens is false");
        if (hash == TrackingHash.KEYED_XXH3_V1) {
            Check.that(hashKeyFile != null, "router_tracking_hash_key_file", "none", "a file with a 32-byte key");
            Check.that(hashKeyId != null && !hashKeyId.isEmpty(), "router_tracking_hash_key_id", "none", "a key id");
        } else {
            requireNoKey("router_tracking_hash_key_file", hashKeyFile);
            requireNoKey("router_tracking_hash_key_id", hashKeyId);
        }
    }

    private static void requireNoKey(String field, @Nullable Object value) {
        Check.that(value == null, field, String.valueOf(value), "none unless router_tracking_hash is keyed-xxh3-v1");
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        boolean activeBlocks = true;
        boolean outputBlocks = false;
        boolean assumeKvReuse = true;
        boolean prefillTokens = true;
        TrackingHash hash = TrackingHash.PUBLIC_XXH3_V1;

        @Nullable
        Path hashKeyFile;

        @Nullable
        String hashKeyId;

        PrefillLoadModel prefillLoadModel = PrefillLoadModel.NONE;

        Draft() {}

        Draft(TrackingConfig c) {
            activeBlocks = c.activeBlocks();
            outputBlocks = c.outputBlocks();
            assumeKvReuse = c.assumeKvReuse();
            prefillTokens = c.prefillTokens();
            hash = c.hash();
            hashKeyFile = c.hashKeyFile();
            hashKeyId = c.hashKeyId();
            prefillLoadModel = c.prefillLoadModel();
        }

        TrackingConfig build() {
            return new TrackingConfig(
                    activeBlocks,
                    outputBlocks,
                    assumeKvReuse,
                    prefillTokens,
                    hash,
                    hashKeyFile,
                    hashKeyId,
                    prefillLoadModel);
        }
    }
}
