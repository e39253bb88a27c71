package dev.tandemkv.selection.policy;

/** Decides which eligible candidates stay. Filters run in the order they are declared; a candidate stays if all of them keep it. */
@FunctionalInterface
public interface WorkerFilter extends PolicyComponent {

    boolean keep(PolicyContext context, Candidates candidates, int row);
}
