/** The endpoint picker shape: one plan, five headers, one release. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.examples.endpointpicker;
