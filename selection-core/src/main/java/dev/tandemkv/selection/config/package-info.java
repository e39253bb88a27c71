/**
 * Which knobs there are: {@link dev.tandemkv.selection.config.SelectionConfig} with its builder, a strict JSON reader and an environment
 * reader. Every value is checked when the configuration is built; an error names the field and the value.
 */
package dev.tandemkv.selection.config;
