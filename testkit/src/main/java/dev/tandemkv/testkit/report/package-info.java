/**
 * What simulations came to, for people: one table, and one HTML page that opens anywhere.
 *
 * <p>Starting points: {@link dev.tandemkv.testkit.report.Comparison} and {@link dev.tandemkv.testkit.report.HtmlReport}.
 */
package dev.tandemkv.testkit.report;
