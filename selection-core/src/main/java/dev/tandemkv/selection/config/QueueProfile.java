package dev.tandemkv.selection.config;

import dev.tandemkv.catalog.BadRequestException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The classes of one model's queue and how a request finds its own: a class name selects it directly, a family name goes by the bucket of
 * the request's uncached length, anything else counts as the default family.
 *
 * @param buckets ranges of uncached length, ascending, the first from 0; empty where no class has a family
 * @param defaultFamily family, or class, of a request that names none that exists
 * @param classes at least one; every family covers every bucket exactly once
 */
public record QueueProfile(List<Bucket> buckets, String defaultFamily, List<QueueClass> classes) {

    /** The class of a queue without a profile. */
    public static final String DEFAULT_CLASS = "default";

    /**
     * A range of uncached lengths, up to the start of the next.
     *
     * @param name referred to by classes
     * @param fromTokens first length of the range
     */
    public record Bucket(String name, long fromTokens) {}

    public QueueProfile {
        buckets = List.copyOf(buckets);
        classes = List.copyOf(classes);
        requireAscending(buckets);
        Check.that(!classes.isEmpty(), "classes", "none", "at least one class");
        Set<String> names = new HashSet<>();
        Set<String> families = new HashSet<>();
        Set<List<String>> covered = new HashSet<>();
        for (QueueClass c : classes) {
            Check.that(names.add(c.name()), "classes.name", c.name(), "each name once");
            if (c.policyFamily() != null && c.cacheBucket() != null) {
                families.add(c.policyFamily());
                Check.that(
                        covered.add(List.of(c.policyFamily(), c.cacheBucket())),
                        "classes." + c.name() + ".cache_bucket",
                        c.cacheBucket(),
                        "each bucket once in a family");
                requireBucket(buckets, c.name(), c.cacheBucket());
            }
        }
        for (String family : families) {
            for (Bucket bucket : buckets) {
                Check.that(
                        covered.contains(List.of(family, bucket.name())),
                        "policy_family",
                        family,
                        "a class for bucket " + bucket.name());
            }
        }
        Check.that(
                families.contains(defaultFamily) || names.contains(defaultFamily),
                "default_policy_family",
                defaultFamily,
                "a family or class of the profile");
    }

    private static void requireAscending(List<Bucket> buckets) {
        long last = -1;
        for (Bucket bucket : buckets) {
            boolean right = last < 0 ? bucket.fromTokens() == 0 : bucket.fromTokens() > last;
            Check.that(
                    right, "cache_buckets." + bucket.name(), bucket.fromTokens(), "0 first, then strictly ascending");
            last = bucket.fromTokens();
        }
    }

    private static void requireBucket(List<Bucket> buckets, String className, String bucket) {
        if (buckets.stream().noneMatch(b -> b.name().equals(bucket))) {
            throw new BadRequestException(
                    "classes." + className + ".cache_bucket", bucket, "one of the profile's buckets");
        }
    }

    /** One class named {@code default} with quantum 1; without a threshold nobody waits. */
    public static QueueProfile single(@Nullable Double threshold, QueuePolicy policy) {
        QueueClass only = QueueClass.named(DEFAULT_CLASS)
                .withBusyThresholds(null, threshold)
                .withPolicy(policy);
        return new QueueProfile(List.of(), DEFAULT_CLASS, List.of(only));
    }

    /** Whether any class ever makes a request wait. */
    public boolean queues() {
        return classes.stream().anyMatch(QueueClass::queues);
    }

    /**
     * The class of a request: the one it names, if that belongs to no family; else the one for its length in the family it names, else in
     * the default family.
     *
     * @param named class or family the request names, or {@code null}
     * @param uncachedTokens its uncached length
     */
    public QueueClass classOf(@Nullable String named, long uncachedTokens) {
        QueueClass direct = named == null ? null : find(named, uncachedTokens);
        if (direct != null) {
            return direct;
        }
        QueueClass fallback = find(defaultFamily, uncachedTokens);
        return fallback == null ? classes.get(0) : fallback;
    }

    private @Nullable QueueClass find(String named, long uncachedTokens) {
        for (QueueClass c : classes) {
            if (c.name().equals(named) && c.policyFamily() == null) {
                return c;
            }
        }
        String bucket = bucketOf(uncachedTokens);
        for (QueueClass c : classes) {
            if (named.equals(c.policyFamily())
                    && c.cacheBucket() != null
                    && c.cacheBucket().equals(bucket)) {
                return c;
            }
        }
        return null;
    }

    private @Nullable String bucketOf(long uncachedTokens) {
        String name = null;
        for (Bucket bucket : buckets) {
            if (bucket.fromTokens() <= uncachedTokens) {
                name = bucket.name();
            }
        }
        return name;
    }
}
