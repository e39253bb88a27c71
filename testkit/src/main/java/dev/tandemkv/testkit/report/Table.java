package dev.tandemkv.testkit.report;

import java.util.Arrays;
import java.util.List;

/**
 * Text in rows and columns. Immutable.
 *
 * @param columns headings
 * @param rows cells, as many in each row as there are columns
 */
public record Table(List<String> columns, List<List<String>> rows) {

    /** @throws IllegalArgumentException naming the row that has too many or too few cells */
    public Table {
        columns = List.copyOf(columns);
        rows = rows.stream().map(List::copyOf).toList();
        for (int r = 0; r < rows.size(); r++) {
            if (rows.get(r).size() != columns.size()) {
                throw new IllegalArgumentException(
                        "rows[" + r + "]: " + rows.get(r).size() + " cells (expected: " + columns.size() + ")");
            }
        }
    }

    /** Whether a column holds figures, and so is set flush right: every cell that says anything begins like a number. */
    public boolean isNumeric(int column) {
        return rows.stream().map(row -> row.get(column)).allMatch(cell -> cell.matches("-|[-+]?[0-9].*|"));
    }

    /** The table for a terminal: columns two spaces apart, a rule below the headings, every line ended. */
    public String toText() {
        int[] widths = new int[columns.size()];
        boolean[] flushRight = new boolean[columns.size()];
        for (int c = 0; c < widths.length; c++) {
            int column = c;
            widths[c] = Math.max(
                    columns.get(c).length(),
                    rows.stream()
                            .mapToInt(row -> row.get(column).length())
                            .max()
                            .orElse(0));
            flushRight[c] = isNumeric(c);
        }
        StringBuilder text = new StringBuilder();
        append(text, columns, widths, flushRight);
        append(text, Arrays.stream(widths).mapToObj("-"::repeat).toList(), widths, flushRight);
        rows.forEach(row -> append(text, row, widths, flushRight));
        return text.toString();
    }

    private static void append(StringBuilder text, List<String> cells, int[] widths, boolean[] flushRight) {
        StringBuilder line = new StringBuilder();
        for (int c = 0; c < widths.length; c++) {
            String padding = " ".repeat(widths[c] - cells.get(c).length());
            line.append(c == 0 ? "" : "  ");
            line.append(flushRight[c] ? padding + cells.get(c) : cells.get(c) + padding);
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }
}
