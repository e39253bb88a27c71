package dev.tandemkv.testkit.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes one HTML page of a comparison: script, style and data are in it, so that it opens from anywhere and without a network. The charts
 * are drawn by uPlot, whose licence stands in the page. The same content gives the same page, byte for byte. Stateless.
 */
public final class HtmlReport {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{([a-z-]+)}}");

    private HtmlReport() {}

    /** The page. */
    public static String render(ReportContent content) {
        Map<String, String> parts = Map.of(
                "title", escaped(content.title()),
                "facts", facts(content.facts()),
                "comparison", table(Comparison.of(content.runs())),
                "decision", decision(content),
                "style", resource("uplot/uPlot.min.css") + resource("report.css"),
                "chart-library", resource("uplot/uPlot.iife.min.js"),
                "chart-licence", escaped(resource("uplot/LICENSE")),
                "script", resource("report.js"),
                // A "<" inside the data could end the script element.
                "data", ChartData.of(content.runs()).replace("<", "\\u003c"));
        Matcher matcher = PLACEHOLDER.matcher(resource("report.html"));
        return matcher.replaceAll(m -> Matcher.quoteReplacement(part(parts, m.group(1))));
    }

    private static String part(Map<String, String> parts, String name) {
        String part = parts.get(name);
        if (part == null) {
            throw new IllegalStateException("report.html: {{" + name + "}} (expected: one of " + parts.keySet() + ")");
        }
        return part;
    }

    private static String facts(List<String> facts) {
        StringBuilder html = new StringBuilder();
        for (String fact : facts) {
            html.append("<li>").append(escaped(fact)).append("</li>\n");
        }
        return html.toString();
    }

    private static String decision(ReportContent content) {
        ReportContent.ExplainedDecision decision = content.decision();
        if (decision == null) {
            return "";
        }
        return "<h2>One decision explained</h2>\n<p>" + escaped(decision.caption()) + "</p>\n"
                + table(decision.candidates());
    }

    private static String table(Table table) {
        StringBuilder html = new StringBuilder("<div class=\"wide\"><table>\n<thead><tr>");
        for (int c = 0; c < table.columns().size(); c++) {
            cell(html, "th", table, c, table.columns().get(c));
        }
        html.append("</tr></thead>\n<tbody>\n");
        for (List<String> row : table.rows()) {
            html.append("<tr>");
            for (int c = 0; c < row.size(); c++) {
                cell(html, "td", table, c, row.get(c));
            }
            html.append("</tr>\n");
        }
        return html.append("</tbody></table></div>\n").toString();
    }

    private static void cell(StringBuilder html, String tag, Table table, int column, String text) {
        html.append('<').append(tag).append(table.isNumeric(column) ? " class=\"number\">" : ">");
        html.append(escaped(text)).append("</").append(tag).append('>');
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String resource(String name) {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("resource " + name + " is missing from the testkit");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
