package dev.tandemkv.benchmarks.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The compiled classes of the published modules: the core modules always, the adapters where they are built. */
final class ProjectClasses {

    static final List<String> CORE =
            List.of("catalog", "indexer", "affinity", "selection-core", "coordinator", "testkit");

    /** The one module whose package lies below another module's. */
    private static final String NESTED = "adapters.tokenizer.huggingface";

    private ProjectClasses() {}

    static JavaClasses published() {
        return new ClassFileImporter().importPaths(directories());
    }

    private static List<Path> directories() {
        Path root = Path.of(System.getProperty("tandemkv.root"));
        List<Path> directories = new ArrayList<>();
        for (String module : CORE) {
            directories.add(root.resolve(module).resolve("target/classes"));
        }
        Path adapters = root.resolve("adapters");
        if (Files.isDirectory(adapters)) {
            try (Stream<Path> children = Files.list(adapters)) {
                children.map(a -> a.resolve("target/classes"))
                        .filter(Files::isDirectory)
                        .sorted()
                        .forEach(directories::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return directories;
    }

    /** The module a class belongs to, named by its package below {@code dev.tandemkv}, or the empty string for a foreign class. */
    static String moduleOf(JavaClass type) {
        String name = type.getPackageName();
        if (!name.startsWith("dev.tandemkv.")) {
            return "";
        }
        String below = name.substring("dev.tandemkv.".length());
        int dot = below.indexOf('.');
        String module = dot < 0 ? below : below.substring(0, dot);
        if (!module.equals("adapters") || dot < 0) {
            return module;
        }
        if (below.startsWith(NESTED)) {
            return NESTED;
        }
        int next = below.indexOf('.', dot + 1);
        return next < 0 ? below : below.substring(0, next);
    }

    /** Whether a class lies in an {@code internal} package of some module. */
    static boolean isInternal(JavaClass type) {
        return type.getPackageName().matches("dev\\.tandemkv\\.(.*\\.)?internal(\\..*)?");
    }
}
