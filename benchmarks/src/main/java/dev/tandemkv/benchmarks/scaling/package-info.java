/**
 * How figures grow with the fleet: measured as far as one machine carries, modelled beyond, and written into docs/scaling.md. What is measured
 * goes into one JSON document, and the tables are made from that alone.
 */
package dev.tandemkv.benchmarks.scaling;
