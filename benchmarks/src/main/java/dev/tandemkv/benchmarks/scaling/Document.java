package dev.tandemkv.benchmarks.scaling;

import java.util.Map;

/** A Markdown page with tables between {@code <!-- table NAME -->} and {@code <!-- end of table -->}. */
final class Document {

    private static final String END = "<!-- end of table -->";

    private Document() {}

    /**
     * The page with every table put in its place.
     *
     * @throws IllegalArgumentException if a table has no place, or a place no table
     */
    static String withTables(String page, Map<String, String> tables) {
        String filled = page;
        for (Map.Entry<String, String> table : tables.entrySet()) {
            String begin = "<!-- table " + table.getKey() + " -->";
            int from = filled.indexOf(begin);
            int to = from < 0 ? -1 : filled.indexOf(END, from);
            if (to < 0) {
                throw new IllegalArgumentException(
                        "page: no place for table " + table.getKey() + " (expected: " + begin + " and " + END + ")");
            }
            filled = filled.substring(0, from + begin.length()) + "\n\n" + table.getValue() + "\n\n"
                    + filled.substring(to);
        }
        long places =
                page.lines().filter(line -> line.startsWith("<!-- table ")).count();
        if (places != tables.size()) {
            throw new IllegalArgumentException("page: " + places + " places (expected: " + tables.size() + ")");
        }
        return filled;
    }
}
