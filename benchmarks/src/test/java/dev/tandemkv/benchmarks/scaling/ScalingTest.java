package dev.tandemkv.benchmarks.scaling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import dev.tandemkv.benchmarks.scaling.Model.Point;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page's tables are those that the program makes of the committed run, and the models are what they say; nothing is timed. */
class ScalingTest {

    private static final Path ROOT = Path.of(System.getProperty("tandemkv.root"));

    @Test
    void page_tables_areThoseOfTheCommittedRun() throws IOException {
        Measured measured = Measured.read(ROOT.resolve("benchmarks/scaling.json"));
        String page = Files.readString(ROOT.resolve("docs/scaling.md"));

        assertThat(page).isEqualTo(Document.withTables(page, new Tables(measured).all()));
    }

    @Test
    void page_modelledCells_areMarked_andTheirFormulaIsPrinted() throws IOException {
        Measured measured = Measured.read(ROOT.resolve("benchmarks/scaling.json"));
        Map<String, String> tables = new Tables(measured).all();

        Models models = new Models(measured);
        Model perBlock = models.bytesPerBlock(16);
        String formula = tables.get("models")
                .lines()
                .filter(line -> line.startsWith("| bytes per distinct block | 16 |"))
                .findFirst()
                .orElseThrow();
        assertThat(formula).contains(String.format(Locale.ROOT, "%.4g B", perBlock.first()));
        double[] printed = numbers(formula.split("\\|")[3]);
        assertThat(printed[0] + printed[1] * 10_000).isCloseTo(perBlock.at(1, 10_000), within(0.02));
        assertThat(tables.get("limits")).contains("| ~");
    }

    private static double[] numbers(String formula) {
        String[] terms = formula.strip().replace(" ", "").split("B|xranks");
        return new double[] {Double.parseDouble(terms[0]), Double.parseDouble(terms[1])};
    }

    @Test
    void model_exactSums_areFound_andTheErrorIsThatAtTheLargest() {
        List<Point> points = new ArrayList<>();
        for (int x : new int[] {1, 2, 4, 8}) {
            points.add(new Point(1, x, 30 + 7.0 * x));
        }
        points.add(new Point(1, 16, (30 + 7.0 * 16) / 1.25));

        Model model = Model.fitted(points);

        assertThat(model.first()).isCloseTo(30, within(1e-9));
        assertThat(model.second()).isCloseTo(7, within(1e-9));
        assertThat(model.error()).isCloseTo(0.25, within(1e-9));
        assertThat(model.at(1, 100)).isCloseTo(730, within(1e-6));
    }

    @Test
    void model_twoPoints_orSizesThatGrowAlike_areRefused() {
        assertThatThrownBy(() -> Model.fitted(List.of(new Point(1, 1, 1), new Point(1, 2, 2))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Model.fitted(List.of(new Point(1, 2, 1), new Point(2, 4, 2), new Point(3, 6, 3))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void smallIndex_holdsWhatTheShapeSays_alsoInParts() {
        FleetShape shape = new FleetShape(64);
        IndexPoint whole = IndexScale.measure(shape, 20, 1);

        assertThat(whole.pairs()).isEqualTo(20L * 38 * 187);
        assertThat(whole.distinctBlocks()).isEqualTo(shape.distinct(20));
        assertThat(shape.distinct(20, 1)).isCloseTo((double) whole.distinctBlocks(), within(1e-6));
        IndexPoint parted = IndexScale.measure(shape, 64, 4);
        assertThat((double) parted.distinctBlocks()).isCloseTo(shape.distinct(64, 4), withPercentage(3));
    }

    @Test
    void booking_toldByTheRealMesh_isThreeMessages_andItsHashesAreTheirBytes() {
        ReplicaPoint few = ReplicaScale.measure(16, true, 100);
        ReplicaPoint more = ReplicaScale.measure(32, true, 100);
        ReplicaPoint untracked = ReplicaScale.measure(32, false, 100);

        assertThat(few.messages()).isEqualTo(3);
        assertThat(more.bytes() - few.bytes()).isBetween(16 * 8.0, 16 * 9.5);
        assertThat(untracked.bytes()).isLessThan(few.bytes());
    }

    @Test
    void document_tableWithoutPlace_isRefused() {
        assertThatThrownBy(() -> Document.withTables("text", Map.of("a", "x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no place for table a");
        String page = "<!-- table a -->\nold\n<!-- end of table -->\nrest";
        assertThat(Document.withTables(page, Map.of("a", "| x |")))
                .isEqualTo("<!-- table a -->\n\n| x |\n\n<!-- end of table -->\nrest");
    }
}
