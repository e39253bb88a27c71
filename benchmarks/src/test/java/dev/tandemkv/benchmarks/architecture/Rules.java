package dev.tandemkv.benchmarks.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.INTERFACES;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What every published module keeps to. */
final class Rules {

    /** Who may use whom; the arrows of the module diagram, with what comes along. */
    private static final Map<String, Set<String>> ARROWS = Map.of(
            "catalog", Set.of(),
            "indexer", Set.of("catalog"),
            "affinity", Set.of("catalog"),
            "selection", Set.of("catalog", "indexer", "affinity"),
            "coordinator", Set.of("catalog", "indexer", "affinity", "selection"),
            "testkit", Set.of("catalog", "indexer", "affinity", "selection", "coordinator"));

    /** An adapter may use the core, and the two adapters without a transport that others are built on. */
    private static final Set<String> BELOW_ADAPTERS = Set.of(
            "catalog",
            "indexer",
            "affinity",
            "selection",
            "coordinator",
            "adapters.enginewire",
            "adapters.tokenizer",
            "adapters.micrometer");

    /** The one place that may read the JVM's clock. */
    private static final String CLOCK = "dev.tandemkv.catalog.time.SystemTicker";

    private static final Set<String> AMBIENT_CALLS = Set.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.lang.Thread.sleep",
            "java.lang.Math.random",
            "java.util.UUID.randomUUID",
            "java.util.concurrent.ThreadLocalRandom.current",
            "java.util.concurrent.ForkJoinPool.commonPool",
            "java.util.concurrent.CompletableFuture.orTimeout",
            "java.util.concurrent.CompletableFuture.completeOnTimeout",
            "java.util.concurrent.CompletableFuture.delayedExecutor",
            "java.util.random.RandomGenerator.getDefault");

    private static final Set<String> MUTABLE_TYPES = Set.of(
            "java.lang.StringBuilder",
            "java.lang.ThreadLocal",
            "java.util.ArrayList",
            "java.util.ArrayDeque",
            "java.util.BitSet",
            "java.util.EnumMap",
            "java.util.HashMap",
            "java.util.HashSet",
            "java.util.LinkedHashMap",
            "java.util.LinkedHashSet",
            "java.util.LinkedList",
            "java.util.PriorityQueue",
            "java.util.Random",
            "java.util.SplittableRandom",
            "java.util.TreeMap",
            "java.util.TreeSet",
            "java.util.WeakHashMap");

    private Rules() {}

    static ArchRule arrowsPointDown() {
        return classes().should(new ArchCondition<>("use only the modules that theirs may use") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                String from = ProjectClasses.moduleOf(type);
                Set<String> allowed = ARROWS.getOrDefault(from, BELOW_ADAPTERS);
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    String to = ProjectClasses.moduleOf(dependency.getTargetClass());
                    if (!to.isEmpty() && !to.equals(from) && !allowed.contains(to)) {
                        events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        });
    }

    static ArchRule internalsStayInside() {
        return classes().should(new ArchCondition<>("not use an internal package of another module") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass();
                    if (ProjectClasses.isInternal(target)
                            && !ProjectClasses.moduleOf(target).equals(ProjectClasses.moduleOf(type))) {
                        events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        });
    }

    static ArchRule noReflection() {
        return noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("java.lang.reflect..", "sun.misc..", "jdk.internal.."))
                .orShould()
                .callMethodWhere(target(called("find or make something by name", t -> {
                    String owner = t.getOwner().getName();
                    return owner.equals("java.util.ServiceLoader")
                            || (owner.equals("java.lang.Class")
                                    && t.getName()
                                            .matches(
                                                    "forName|newInstance|getDeclared.*|getMethods?|getFields?|getConstructors?"));
                })));
    }

    /** The others need {@code Unsafe}; their common interface does not. */
    static ArchRule onlyAtomicQueues() {
        return noClasses()
                .should()
                .dependOnClassesThat(
                        resideInAnyPackage("org.jctools.queues", "org.jctools.maps..", "org.jctools.util..")
                                .and(not(INTERFACES)));
    }

    static ArchRule noStaticMutableState() {
        return fields().that().areStatic().should(new ArchCondition<>("be final and hold nothing that changes") {
            @Override
            public void check(JavaField field, ConditionEvents events) {
                JavaClass type = field.getRawType();
                boolean sharedArray = type.isArray()
                        && (field.getModifiers().contains(JavaModifier.PUBLIC)
                                || field.getModifiers().contains(JavaModifier.PROTECTED));
                if (!field.getModifiers().contains(JavaModifier.FINAL) || sharedArray || isMutable(type)) {
                    events.add(SimpleConditionEvent.violated(
                            field, field.getDescription() + " of type " + type.getName()));
                }
            }
        });
    }

    private static boolean isMutable(JavaClass type) {
        return MUTABLE_TYPES.contains(type.getName())
                || (type.getPackageName().startsWith("java.util.concurrent")
                        && !type.isEnum()
                        // A completed one never changes; nobody else can complete it.
                        && !type.getSimpleName().equals("CompletionStage"))
                || type.getPackageName().equals("com.github.benmanes.caffeine.cache")
                || ProjectClasses.moduleOf(type).length() > 0
                        && type.getFields().stream()
                                .anyMatch(f -> !f.getModifiers().contains(JavaModifier.STATIC)
                                        && !f.getModifiers().contains(JavaModifier.FINAL));
    }

    static ArchRule noAmbientTimeOrRandomness() {
        return noClasses()
                .that(new DescribedPredicate<>("are not the system ticker") {
                    @Override
                    public boolean test(JavaClass type) {
                        return !type.getName().equals(CLOCK);
                    }
                })
                .should()
                .callCodeUnitWhere(target(called("read a clock, roll a die or wait by itself", Rules::isAmbient))
                        .and(not(isDefaultOfABuilder())));
    }

    /** A builder may offer the system's wall clock where none was given; it does not read it. */
    private static DescribedPredicate<JavaCall<?>> isDefaultOfABuilder() {
        return new DescribedPredicate<>("a builder's default clock") {
            @Override
            public boolean test(JavaCall<?> call) {
                return call.getTarget().getOwner().getName().equals("java.time.Clock")
                        && call.getOriginOwner().getSimpleName().endsWith("Builder");
            }
        };
    }

    static ArchRule onePlaceReadsTheClock() {
        return classes().that().haveFullyQualifiedName(CLOCK).should().callMethod(System.class, "nanoTime");
    }

    private static boolean isAmbient(CodeUnitCallTarget target) {
        String owner = target.getOwner().getName();
        String name = target.getName();
        boolean noArguments = target.getRawParameterTypes().isEmpty();
        return AMBIENT_CALLS.contains(owner + "." + name)
                || (owner.startsWith("java.time.") && name.equals("now") && noArguments)
                || (owner.equals("java.time.Clock") && name.startsWith("system"))
                || (owner.matches("java.util.(Random|SplittableRandom)") && name.equals("<init>") && noArguments)
                || (owner.matches("java.security.SecureRandom|java.util.Timer") && name.equals("<init>"))
                || (owner.equals("java.util.concurrent.CompletableFuture") && usesCommonPool(target));
    }

    /** The {@code ...Async} forms without an executor run on the common pool. */
    private static boolean usesCommonPool(CodeUnitCallTarget target) {
        return target.getName().endsWith("Async")
                && target.getRawParameterTypes().stream()
                        .noneMatch(p -> p.getName().equals("java.util.concurrent.Executor"));
    }

    private static DescribedPredicate<CodeUnitCallTarget> called(
            String description, Predicate<CodeUnitCallTarget> matches) {
        return new DescribedPredicate<>(description) {
            @Override
            public boolean test(CodeUnitCallTarget t) {
                return matches.test(t);
            }
        };
    }
}
