package dev.tandemkv.benchmarks.report;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.Predicate;

/**
 * What a group of threads has used since they started; what compilers and collectors use is not in it.
 *
 * @param cpuNanos CPU time
 * @param allocatedBytes on the heap
 */
public record Spent(long cpuNanos, long allocatedBytes) {

    /** By the live threads whose name passes. */
    public static Spent by(Predicate<String> names) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long cpu = 0;
        long bytes = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (names.test(thread.getName())) {
                cpu += Math.max(0, threads.getThreadCpuTime(thread.getId()));
                bytes += Math.max(0, threads.getThreadAllocatedBytes(thread.getId()));
            }
        }
        return new Spent(cpu, bytes);
    }

    public Spent since(Spent earlier) {
        return new Spent(cpuNanos - earlier.cpuNanos, allocatedBytes - earlier.allocatedBytes);
    }
}
