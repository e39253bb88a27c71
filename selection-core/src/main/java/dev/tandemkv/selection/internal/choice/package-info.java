/** Carries out a policy: the table of candidates, the shipped components, and the steps from candidates to one row. */
package dev.tandemkv.selection.internal.choice;
