package dev.tandemkv.benchmarks.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reading all classes, and those they use, takes long on a busy machine. */
@Timeout(300)
class ArchitectureTest {

    private static JavaClasses published;

    @BeforeAll
    static void importClasses() {
        published = ProjectClasses.published();
    }

    @Test
    void everyCoreModule_isLookedAt() {
        Set<String> modules = new TreeSet<>();
        for (JavaClass type : published) {
            modules.add(ProjectClasses.moduleOf(type));
        }
        assertThat(modules).contains("catalog", "indexer", "affinity", "selection", "testkit");
    }

    @Test
    void modules_dependOnlyAlongTheArrows() {
        Rules.arrowsPointDown().check(published);
    }

    @Test
    void internalPackages_areNotUsedByOtherModules() {
        Rules.internalsStayInside().check(published);
    }

    @Test
    void publishedClasses_useNoReflectionAndNoUnsafe() {
        Rules.noReflection().check(published);
        Rules.onlyAtomicQueues().check(published);
    }

    @Test
    void publishedClasses_haveNoStaticMutableState() {
        Rules.noStaticMutableState().check(published);
    }

    @Test
    void publishedClasses_takeNoTimeAndNoRandomnessFromTheAir() {
        Rules.noAmbientTimeOrRandomness().check(published);
        Rules.onePlaceReadsTheClock().check(published);
    }

    @Test
    void rules_classesThatBreakThem_areCaught() {
        assertCaught(Rules.noAmbientTimeOrRandomness(), Offenders.ReadsTheClock.class);
        assertCaught(Rules.noAmbientTimeOrRandomness(), Offenders.RollsADie.class);
        assertCaught(Rules.noAmbientTimeOrRandomness(), Offenders.RunsOnTheCommonPool.class);
        assertCaught(Rules.noReflection(), Offenders.Reflects.class);
        assertCaught(Rules.noStaticMutableState(), Offenders.HoldsAStaticMap.class);
        assertCaught(Rules.noStaticMutableState(), Offenders.HoldsAStaticVariable.class);
    }

    private static void assertCaught(ArchRule rule, Class<?> offender) {
        JavaClasses classes = new ClassFileImporter().importClasses(offender);
        assertThatThrownBy(() -> rule.check(classes))
                .as(offender.getSimpleName())
                .isInstanceOf(AssertionError.class);
    }
}
