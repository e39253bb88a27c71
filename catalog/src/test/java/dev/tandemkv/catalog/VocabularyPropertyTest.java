package dev.tandemkv.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class VocabularyPropertyTest {

    @Property
    void workerRank_anyBits_surviveTheirText(@ForAll long worker, @ForAll int rank) {
        WorkerRank id = new WorkerRank(worker, rank);
        assertThat(WorkerRank.parse(id.toString())).isEqualTo(id);
        assertThat(id.toString()).doesNotContain("-");
    }

    @Property
    void hasRank_anyRange_isTheUnsignedInterval(@ForAll int start, @ForAll int size, @ForAll int rank) {
        long first = Integer.toUnsignedLong(start);
        long count = Integer.toUnsignedLong(size);
        WorkerSpec.Builder builder =
                WorkerSpec.builder(1).dataParallelStartRank(start).dataParallelSize(size);
        if (first + count > 1L << 32) {
            assertThat(org.assertj.core.api.Assertions.catchThrowable(builder::build))
                    .isInstanceOf(BadRequestException.class);
            return;
        }
        long r = Integer.toUnsignedLong(rank);
        assertThat(builder.build().hasRank(rank)).isEqualTo(r >= first && r < first + count);
    }
}
