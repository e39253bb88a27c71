package dev.tandemkv.indexer.event;

import static dev.tandemkv.indexer.event.FeedFixture.RANK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.Exactness.Direction;
import dev.tandemkv.indexer.event.Exactness.Reason;
import dev.tandemkv.indexer.health.LadderRung;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IndexFeedTest {

    private final FeedFixture f = new FeedFixture();

    // ---- gaps that a replay fills

    @Test
    void scenario44_gapWithReplay_isFilledAndNothingIsAppliedTwice() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 2, 5);
        assertThat(f.publisher.requests).containsExactly(3L);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        assertThat(f.cursor()).as("the cursor moves only with what is applied").isEqualTo(2);
        f.publisher.open.get(0).complete(f.publisher.answer(3));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(5);
        assertThat(f.score(1, 2, 3, 4, 5, 6)).isEqualTo(6);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(6);
        assertThat(f.seen).containsExactly(Exactness.RECOVERING, Exactness.EXACT);
    }

    @Test
    void kG1_ordinaryGap_keepsIndexAndCursorAndAsksFromTheFirstMissing() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(15, 16);
        assertThat(f.publisher.requests).containsExactly(11L);
        assertThat(f.score(chain(11))).as("kept meanwhile").isEqualTo(11);
        f.publisher.open.get(0).complete(f.publisher.answer(11));
        assertThat(f.cursor()).isEqualTo(16);
        assertThat(f.score(chain(17))).isEqualTo(17);
    }

    @Test
    void kG1_sourceAnswersWithContents_replacesTheRank() {
        f.listen(FeedSource.builder()
                .replay((rank, from) -> CompletableFuture.completedFuture(
                        new ReplayReply.Contents(List.of(stored(null, 77)), 15, Double.NaN)))
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .build());
        f.deliver(0, 1, 15);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(15);
        assertThat(f.score(1)).isZero();
        assertThat(f.score(77)).isEqualTo(1);
    }

    @Test
    void kG2_firstNumberAboveZero_isRecoveredFromZeroBeforeItIsApplied() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(5);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.score(1)).isZero();
        f.publisher.open.get(0).complete(f.publisher.answer(0));
        assertThat(f.score(chain(6))).isEqualTo(6);
    }

    @Test
    void kG3_replayOverlapsLive_eachNumberIsAppliedOnce() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(15);
        f.publisher.newest = 20;
        ReplayReply reply = f.publisher.answer(11);
        f.deliver(16, 17, 18, 19);
        f.publisher.open.get(0).complete(reply);
        f.deliver(20, 21, 22);
        assertThat(f.cursor()).isEqualTo(22);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(23);
        assertThat(f.score(chain(23))).isEqualTo(23);
        assertThat(f.publisher.requests)
                .as("a success does not back off, and nothing more was missing")
                .hasSize(1);
    }

    @Test
    void kG3_failedReplay_backsOff_successfulOneDoesNot() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 2);
        f.publisher.open.get(0).completeExceptionally(new IllegalStateException("down"));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.EMPTY, Direction.OVERCOUNT));
        f.publisher.manual = false;
        f.deliver(4);
        assertThat(f.publisher.requests).as("waits its turn").containsExactly(1L);
        f.advance(1000);
        assertThat(f.publisher.requests).containsExactly(1L, 3L);
        f.deliver(6).deliver(8);
        assertThat(f.publisher.requests).containsExactly(1L, 3L, 5L, 7L);
        assertThat(f.cursor()).isEqualTo(8);
    }

    @Test
    void silentPeer_timesOut() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 2).advance(9_999);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.advance(1);
        assertThat(f.degraded().reason()).isEqualTo(Reason.EMPTY);
        assertThat(f.cursor()).isEqualTo(2);
        f.publisher.open.get(0).complete(f.publisher.answer(1));
        assertThat(f.cursor()).as("an answer after the timeout means nothing").isEqualTo(2);
        assertThat(f.time.pending()).isZero();
    }

    // ---- where a stream begins

    @Test
    void scenario45_firstNumberSeven_isReplayedFromZero() {
        f.listen(f.replaying()).deliver(7);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(7);
    }

    @Test
    void scenario45_snapshotWithoutCursor_joinsAnywhereOnce() {
        f.index.apply(RANK, rootChain(7));
        f.feed.register(RANK, f.replaying(), FeedOrigin.snapshot());
        f.deliver(7);
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.cursor()).isEqualTo(7);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        f.deliver(9);
        assertThat(f.publisher.requests).containsExactly(8L);
    }

    @Test
    void scenario45_snapshotWithoutCursorOfACountingSource_isDegraded() {
        f.feed.register(
                RANK,
                f.replaying().toBuilder().traits(SourceTraits.COUNTS_COPIES).build(),
                FeedOrigin.snapshot());
        f.deliver(7);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.SNAPSHOT_WITHOUT_CURSOR, Direction.OVERCOUNT));
    }

    @Test
    void scenario45_snapshotWithCursor_containedIsStale_laterIsAGap() {
        f.feed.register(RANK, f.replaying(), FeedOrigin.at(5));
        f.deliver(5);
        assertThat(f.count(FeedCounter.STALE)).isEqualTo(1);
        assertThat(f.publisher.requests).isEmpty();
        f.deliver(7);
        assertThat(f.publisher.requests).containsExactly(6L);
        assertThat(f.cursor()).isEqualTo(7);
    }

    @Test
    void scenario45_sourceThatStartsAtOne_needsNoReplayForOne() {
        f.listen(f.replaying().toBuilder().firstSequence(1).build());
        f.feed.offer(new EventBatch.Decoded(RANK, 1, 1, List.of(stored(null, 1))));
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restoredRank_sameBatchAtTheCursor_isExactAgain() {
        f.publisher.newest = 8;
        f.publisher.manual = true;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        assertThat(f.publisher.requests).containsExactly(5L);
        f.publisher.open.get(0).complete(f.publisher.answer(5));
        assertThat(f.cursor()).isEqualTo(8);
        assertThat(f.count(FeedCounter.BATCHES)).as("6, 7, 8").isEqualTo(3);
    }

    @Test
    void restoredRank_otherBatchAtTheCursor_isClearedAndReplayedFromTheStart() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.newest = 8;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 77, Exactness.EXACT));
        assertThat(f.publisher.requests).containsExactly(5L, 0L);
        assertThat(f.score(99)).isZero();
        assertThat(f.score(chain(9))).isEqualTo(9);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restoredRank_publisherIsYoungerThanTheCursor_isClearedAndReplayedFromTheStart() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.newest = 2;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.publisher.requests).containsExactly(5L, 0L);
        assertThat(f.score(99)).isZero();
        assertThat(f.cursor()).isEqualTo(2);
    }

    @Test
    void restoredRank_nobodyAnswers_staysRecoveringThenGivesTheContentUp() {
        f.index.apply(RANK, stored(null, 99));
        f.publisher.manual = true;
        f.feed.register(RANK, f.replaying(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        f.advance(60_000);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.advance(600_000);
        assertThat(f.publisher.requests).hasSize(8).containsOnly(5L);
        assertThat(f.score(99)).isZero();
    }

    @Test
    void restoredRank_withoutReplay_laterClockUnderALowerNumberIsANewPublisher() {
        f.index.apply(RANK, stored(null, 99));
        f.feed.register(RANK, FeedSource.liveOnly(), new FeedOrigin.Position(5, 1005, Exactness.EXACT));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.OVERCOUNT));
        f.publisher.epoch = 2000;
        f.deliver(0);
        assertThat(f.score(99)).isZero();
        assertThat(f.score(1)).isEqualTo(1);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void catchup_atOnce_fetchesWhatWasPublishedBefore() {
        f.publisher.newest = 4;
        f.listen(f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        assertThat(f.score(chain(5))).isEqualTo(5);
        assertThat(f.cursor()).isEqualTo(4);
        f.deliver(5);
        assertThat(f.publisher.requests).containsExactly(0L);
    }

    @Test
    void catchup_atOnceFails_isAskedAgainWithBackoff() {
        f.publisher.manual = true;
        f.listen(f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        f.publisher.open.get(0).completeExceptionally(new IllegalStateException("down"));
        f.advance(1000);
        f.publisher.open.get(1).completeExceptionally(new IllegalStateException("down"));
        f.advance(1999);
        assertThat(f.publisher.requests).hasSize(2);
        f.advance(1);
        f.publisher.newest = 1;
        f.publisher.open.get(2).complete(f.publisher.answer(0));
        assertThat(f.score(1, 2)).isEqualTo(2);
        f.advance(600_000);
        assertThat(f.publisher.requests).hasSize(3);
    }

    @Test
    void kG5_capabilityArrivesLater_recoversOncePerIncarnation() {
        f.publisher.newest = 3;
        f.listen(FeedSource.builder().incarnation("a").build());
        assertThat(f.score(1)).isZero();
        FeedSource capable = f.replaying().toBuilder()
                .catchup(FeedSource.Catchup.AT_ONCE)
                .incarnation("a")
                .build();
        f.feed.update(RANK, capable);
        assertThat(f.score(chain(4))).isEqualTo(4);
        f.feed.update(RANK, capable);
        f.feed.update(RANK, capable.toBuilder().firstSequence(0).build());
        assertThat(f.publisher.requests).containsExactly(0L);
        f.feed.update(RANK, capable.toBuilder().incarnation("b").build());
        assertThat(f.publisher.requests).containsExactly(0L, 0L);
        assertThat(f.score(chain(4))).isEqualTo(4);
    }

    @Test
    void kG5_capabilityArrivesAfterALoss_theWholeHistoryIsFetched() {
        f.listen(FeedSource.liveOnly()).deliver(2);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.UNDERCOUNT));
        f.feed.update(
                RANK,
                f.replaying().toBuilder().catchup(FeedSource.Catchup.AT_ONCE).build());
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(1, 2, 3)).isEqualTo(3);
    }

    // ---- replays that do not help

    @Test
    void scenario46_replayThatStartsLate_isDegradedUntilAClear() {
        f.publisher.oldest = 6;
        f.listen(f.replaying()).deliver(0, 1, 2, 8);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.STARTED_AFTER_REQUESTED, Direction.OVERCOUNT));
        assertThat(f.publisher.requests).as("the head is gone").containsExactly(3L);
        assertThat(f.cursor()).isEqualTo(8);
        f.publisher.newest = 9;
        f.feed.offer(new EventBatch.Decoded(RANK, 9, 0, List.of(new KvEvent.Cleared())));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario46_emptyReplay_isDegraded() {
        f.publisher.loses = s -> true;
        f.listen(f.replaying()).deliver(0, 5);
        assertThat(f.degraded().reason()).isEqualTo(Reason.EMPTY);
        assertThat(f.cursor()).isEqualTo(5);
    }

    @Test
    void scenario46_replayThatEndsEarly_isDegraded() {
        f.publisher.loses = s -> s > 3;
        f.listen(f.replaying()).deliver(0, 1, 2, 8);
        assertThat(f.degraded().reason()).isEqualTo(Reason.ENDED_BEFORE_TARGET);
        assertThat(f.cursor()).isEqualTo(8);
        assertThat(f.count(FeedCounter.LOST_BATCHES)).isEqualTo(4);
    }

    @Test
    void scenario46_undecodableReplayedBatch_isSkippedAndMarked() {
        f.listen(FeedSource.builder()
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .replay((rank, from) -> CompletableFuture.completedFuture(new ReplayReply.Batches(
                        List.of(new EventBatch.Undecodable(RANK, 1), f.publisher.batch(2), f.publisher.batch(3)),
                        ReplayReply.End.MARKED)))
                .build());
        f.deliver(0, 3);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NON_CONTIGUOUS, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(3);
        assertThat(f.count(FeedCounter.UNDECODABLE_REPLAYED)).isEqualTo(1);
    }

    @Test
    void scenario46_gapBeforeAnythingWasApplied_canOnlyUndercount() {
        f.publisher.oldest = 6;
        f.listen(f.replaying()).deliver(8);
        assertThat(f.degraded())
                .isEqualTo(new Exactness.Degraded(Reason.STARTED_AFTER_REQUESTED, Direction.UNDERCOUNT));
    }

    @Test
    void scenario46a_lossyReplay_isAskedAgainFromTheFirstMissing() {
        f.publisher.newest = 8999;
        f.publisher.loses = s -> f.publisher.requests.size() == 1 && (s == 500 || s == 700);
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).containsExactly(0L, 500L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(9001);
    }

    @Test
    void scenario46a_withoutEndMarker_isAskedAgainFromTheLastPlusOne() {
        f.publisher.newest = 8999;
        f.publisher.limit = 3500;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).startsWith(0L, 3500L, 7000L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.cursor()).isEqualTo(9000);
    }

    @Test
    void scenario46a_eightRoundsAtMost() {
        f.publisher.newest = 8999;
        f.publisher.limit = 1;
        f.publisher.end = ReplayReply.End.SILENT;
        f.listen(f.replaying()).deliver(9000);
        assertThat(f.publisher.requests).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(f.degraded().reason()).isEqualTo(Reason.ENDED_BEFORE_TARGET);
    }

    @Test
    void scenario46a_roundWithoutNews_endsTheRounds() {
        f.publisher.newest = 10;
        f.publisher.loses = s -> s == 5 && f.publisher.requests.size() < 3;
        f.listen(FeedSource.builder()
                .catchup(FeedSource.Catchup.ON_FIRST_BATCH)
                .replay((rank, from) -> f.publisher.replay(rank, 0))
                .build());
        f.deliver(11);
        assertThat(f.publisher.requests).hasSize(2);
        assertThat(f.degraded().reason()).isEqualTo(Reason.NON_CONTIGUOUS);
        assertThat(f.cursor()).isEqualTo(11);
    }

    @Test
    void scenario46b_numbersInsideAReplyNeverSent_arePermanent() {
        f.publisher.loses = s -> s >= 500 && s <= 502;
        f.publisher.newest = 600;
        f.listen(f.replaying()).deliver(601);
        assertThat(f.publisher.requests).as("no third").containsExactly(0L, 500L);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.PERMANENT_GAP, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(601);
        assertThat(f.count(FeedCounter.LOST_BATCHES)).isEqualTo(3);
        f.feed.offer(new EventBatch.Decoded(RANK, 602, 0, List.of(new KvEvent.Cleared())));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario46b_gapAtEveryBatch_requestsFollowTheBackoff() {
        f.publisher.loses = s -> s % 2 == 1;
        f.listen(f.replaying());
        for (int i = 0; i < 600; i++) {
            f.deliver(2L * i).advance(100);
        }
        f.advance(5000);
        assertThat(f.publisher.requests.size()).as("600 gaps in 60 s").isBetween(5, 8);
        assertThat(f.cursor()).as("the index keeps running").isEqualTo(2 * 599);
    }

    @Test
    void kG6_gapBeyondTheRing_staysDegradedUntilAClear() {
        f.publisher.newest = 20_000;
        f.publisher.oldest = 10_001;
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 10).toArray()).deliver(20_000);
        assertThat(f.degraded().direction()).isEqualTo(Direction.OVERCOUNT);
        f.advance(3_600_000).deliver(20_001);
        assertThat(f.exactness().kind()).isEqualTo(Exactness.Kind.DEGRADED);
    }

    @Test
    void gapWithoutReplay_isLostAndDegraded() {
        f.listen(FeedSource.liveOnly()).deliver(0, 1, 4);
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.NO_REPLAY_SOURCE, Direction.OVERCOUNT));
        assertThat(f.cursor()).isEqualTo(4);
    }

    // ---- restarts and repeats

    @Test
    void scenario47_directRepeat_isIgnored() {
        f.listen(f.replaying()).deliver(0, 1, 2, 3, 3);
        assertThat(f.count(FeedCounter.BATCHES)).isEqualTo(4);
        assertThat(f.count(FeedCounter.STALE)).isEqualTo(1);
    }

    @Test
    void kG4_numbersMoveBackwards_clearsAndBeginsAnew() {
        f.listen(FeedSource.liveOnly())
                .deliver(LongStream.rangeClosed(0, 500).toArray())
                .deliver(0);
        assertThat(f.score(chain(3))).isEqualTo(1);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
        assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        f.deliver(1);
        assertThat(f.score(chain(3))).isEqualTo(2);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restart_firstNumberAboveZero_isReplayedFromZero() {
        f.listen(f.replaying()).deliver(LongStream.rangeClosed(0, 9).toArray());
        f.publisher.newest = 3;
        f.deliver(3);
        assertThat(f.publisher.requests).containsExactly(0L);
        assertThat(f.index.blocks(RANK)).isEqualTo(4);
    }

    @Test
    void restart_duringAReplay_makesItsAnswerMeaningless() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 1, 5);
        ReplayReply old = f.publisher.answer(2);
        f.publisher.epoch = 5000;
        f.deliver(0);
        f.publisher.open.get(0).complete(old);
        assertThat(f.index.blocks(RANK)).isEqualTo(1);
        assertThat(f.cursor()).isZero();
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void restart_endsEveryDegradation() {
        f.listen(FeedSource.liveOnly()).deliver(0, 5);
        assertThat(f.exactness().kind()).isEqualTo(Exactness.Kind.DEGRADED);
        f.deliver(0);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void scenario48_undecodableLiveBatch_isReplayedByTheNext() {
        f.listen(f.replaying()).deliver(0, 1);
        f.feed.offer(new EventBatch.Undecodable(RANK, 2));
        assertThat(f.cursor()).isEqualTo(1);
        assertThat(f.publisher.requests).isEmpty();
        f.deliver(3);
        assertThat(f.publisher.requests).containsExactly(2L);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(chain(4))).isEqualTo(4);
    }

    // ---- orphans and hash schemes

    @Test
    void kF8_orphan_isCountedAndDegradesTheRank() {
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, new KvEvent.Stored[] {stored(9L, 3, 4, 5)}));
        assertThat(f.degraded()).isEqualTo(new Exactness.Degraded(Reason.ORPHAN_STORE, Direction.UNDERCOUNT));
        assertThat(f.count(FeedCounter.ORPHAN_EVENTS)).isEqualTo(1);
        assertThat(f.count(FeedCounter.ORPHAN_BLOCKS)).isEqualTo(3);
        assertThat(f.score(3)).isZero();
    }

    @Test
    void scenario28f_orphansOfASourceThatCanResync_areAskedForWithBackoff() {
        List<CompletableFuture<ReplayReply.Contents>> asked = new ArrayList<>();
        f.listen(FeedSource.builder()
                .resync(rank -> {
                    asked.add(new CompletableFuture<>());
                    return asked.get(asked.size() - 1);
                })
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(asked).hasSize(1);
        assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
        f.feed.offer(batch(1, stored(9L, 4)));
        assertThat(asked).as("at most one in flight").hasSize(1);
        long[] waits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
        for (int i = 0; i < waits.length; i++) {
            asked.get(i).completeExceptionally(new IllegalStateException("busy"));
            f.time.advance(Duration.ofSeconds(waits[i]).minusMillis(1));
            assertThat(asked).as("attempt %d", i).hasSize(i + 1);
            f.advance(1);
            assertThat(asked).hasSize(i + 2);
        }
        asked.get(waits.length).complete(new ReplayReply.Contents(List.of(stored(null, 7)), 1, 0));
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(f.score(7)).isEqualTo(1);
        f.advance(3_600_000);
        assertThat(asked).hasSize(waits.length + 1);
    }

    @Test
    void resync_ofACountingSource_leavesCopiesUncertain() {
        f.listen(FeedSource.builder()
                .traits(SourceTraits.COUNTS_COPIES)
                .resync(rank ->
                        CompletableFuture.completedFuture(new ReplayReply.Contents(List.of(stored(null, 1, 2)), 0, 0)))
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(f.index.blocks(RANK)).isEqualTo(2);
        f.feed.offer(batch(1, KvEvent.Removed.device(2)));
        f.feed.offer(batch(2, stored(2L, 3)));
        assertThat(f.score(1, 2, 3)).as("the store proves that 2 is held").isEqualTo(3);
        assertThat(f.exactness()).isEqualTo(Exactness.EXACT);
    }

    @Test
    void resync_byTheWholeHistory_countsCopies() {
        EventBatch first = batch(0, stored(null, 1));
        EventBatch second = batch(1, stored(1L, 2), stored(1L, 2));
        f.listen(FeedSource.builder()
                .traits(SourceTraits.COUNTS_COPIES)
                .resync(ResyncSource.replayFromStart(
                        (rank, from) -> CompletableFuture.completedFuture(
                                new ReplayReply.Batches(List.of(first, second), ReplayReply.End.MARKED)),
                        0))
                .build());
        f.feed.offer(batch(0, stored(9L, 3)));
        assertThat(f.cursor()).isEqualTo(1);
        f.feed.offer(batch(2, KvEvent.Removed.device(2)));
        assertThat(f.score(1, 2)).as("one copy is left").isEqualTo(2);
    }

    @Test
    void scenario28f_orphansOfASourceThatCannotResync_askNothing() {
        f.listen(f.replaying());
        f.feed.offer(batch(0, stored(9L, 3)));
        f.advance(600_000);
        assertThat(f.publisher.requests).isEmpty();
        assertThat(f.count(FeedCounter.RESYNCS)).isZero();
    }

    @Test
    void scenario28f_orphanedShare_dropsTheRungOfThatRankAlone() {
        WorkerRank other = WorkerRank.of(2);
        f.feed.register(other, FeedSource.liveOnly());
        f.feed.offer(new EventBatch.Decoded(other, 0, 0, List.of(rootChain(2000))));
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, rootChain(8100)));
        f.feed.offer(batch(1, stored(-9L, LongStream.range(0, 1900).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).as("19 %").isEqualTo(LadderRung.EXACT_INDEX);
        f.feed.offer(batch(2, stored(-9L, LongStream.range(0, 260).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().orphanShare()).isBetween(0.20, 0.22);
        assertThat(f.feed.status(RANK).orElseThrow().rung()).as("21 %").isEqualTo(LadderRung.APPROXIMATE);
        assertThat(f.feed.status(other).orElseThrow().rung()).isEqualTo(LadderRung.EXACT_INDEX);
        f.advance(60_000);
        assertThat(f.feed.status(RANK).orElseThrow().rung())
                .as("the window slid on")
                .isEqualTo(LadderRung.EXACT_INDEX);
    }

    @Test
    void scenario28f_fewBlocks_areNotJudged() {
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, stored(-9L, LongStream.range(0, 1023).toArray())));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.EXACT_INDEX);
        f.feed.offer(batch(1, stored(-9L, 1)));
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.APPROXIMATE);
    }

    @Test
    void scenario42a_constantParent_isAnUnsupportedHashScheme() {
        f.listen(f.replaying().toBuilder()
                .resync(rank -> {
                    throw new AssertionError("no resync helps");
                })
                .build());
        f.feed.offer(batch(0, stored(null, 1)));
        f.feed.offer(batch(1, stored(5740354900026072187L, 2), stored(null, 3)));
        f.feed.offer(batch(2, new KvEvent.Cleared(), stored(null, 4)));
        assertUnsupported(3);
    }

    @Test
    void scenario42a_oneHashUnderTwoParents_isAnUnsupportedHashScheme() {
        f.listen(f.replaying());
        f.feed.offer(batch(0, stored(null, 1, 2), stored(null, 7)));
        f.feed.offer(batch(1, new KvEvent.Stored[] {KvEvent.Stored.device(7L, new long[] {2}, new long[] {2})}));
        f.feed.offer(batch(2, stored(null, 9)));
        assertUnsupported(2);
    }

    private void assertUnsupported(long dropped) {
        assertThat(f.degraded().reason()).isEqualTo(Reason.UNSUPPORTED_HASH_SCHEME);
        assertThat(f.index.blocks(RANK)).isZero();
        assertThat(f.count(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED)).isEqualTo(dropped);
        assertThat(f.feed.status(RANK).orElseThrow().rung()).isEqualTo(LadderRung.APPROXIMATE);
        f.advance(600_000);
        assertThat(f.count(FeedCounter.RESYNCS)).isZero();
        f.deliver(0);
        assertThat(f.exactness()).as("a new publisher may be another release").isEqualTo(Exactness.EXACT);
    }

    // ---- ranks

    @Test
    void scenario27_storeRemoveStore_onlyTheLastIsVisible() {
        f.listen(FeedSource.liveOnly()).deliver(0, 1);
        f.feed.removeRank(RANK);
        assertThat(f.index.slotOf(RANK)).isEqualTo(-1);
        f.listen(FeedSource.liveOnly());
        f.feed.offer(batch(0, stored(null, 50)));
        assertThat(f.score(1)).isZero();
        assertThat(f.score(50)).isEqualTo(1);
    }

    @Test
    void register_twice_isAConflict() {
        f.listen(FeedSource.liveOnly()).deliver(0);
        assertThatThrownBy(() -> f.feed.register(RANK, FeedSource.liveOnly())).isInstanceOf(ConflictException.class);
        assertThat(f.score(1)).isEqualTo(1);
        assertThatThrownBy(() -> f.feed.update(WorkerRank.of(9), FeedSource.liveOnly()))
                .isInstanceOf(NotFoundException.class);
    }

    @Test
    void kJ4_rankKnownFromEventsOnly_leavesWithItsWorker() {
        f.listen(FeedSource.liveOnly());
        WorkerRank second = new WorkerRank(1, 1);
        f.feed.offer(new EventBatch.Decoded(second, 0, 0, List.of(stored(null, 1))));
        f.feed.offer(new EventBatch.Decoded(WorkerRank.of(2), 0, 0, List.of(stored(null, 1))));
        assertThat(FeedFixture.score(f.index, second, 1)).isEqualTo(1);
        assertThat(f.count(FeedCounter.UNKNOWN_RANK))
                .as("a worker nobody registered")
                .isEqualTo(1);
        f.feed.removeWorker(1);
        assertThat(f.feed.ranks()).isEmpty();
        assertThat(f.index.ranks()).isEmpty();
    }

    @Test
    void removeRank_duringAReplay_ignoresTheAnswerAndLeavesNoTimer() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 5);
        f.feed.removeRank(RANK);
        f.publisher.open.get(0).complete(f.publisher.answer(1));
        assertThat(f.index.ranks()).isEmpty();
        assertThat(f.time.pending()).isZero();
    }

    @Test
    void close_keepsTheIndexAndLeavesNoTimer() {
        f.publisher.manual = true;
        f.listen(f.replaying()).deliver(0, 5);
        f.feed.close();
        f.feed.close();
        assertThat(f.time.pending()).isZero();
        assertThat(f.score(1)).isEqualTo(1);
    }

    // ---- bounds

    @Test
    void held_beyondItsBound_isDroppedAndAskedForAfterwards() {
        FeedFixture small = new FeedFixture(FeedConfig.builder().maxHeld(2).build());
        small.publisher.manual = true;
        small.listen(small.replaying()).deliver(0, 2);
        ReplayReply reply = small.publisher.answer(1);
        small.deliver(3, 4, 5);
        assertThat(small.count(FeedCounter.HELD_DROPPED)).isEqualTo(2);
        small.publisher.manual = false;
        small.publisher.open.get(0).complete(reply);
        assertThat(small.publisher.requests).containsExactly(1L, 4L);
        assertThat(small.exactness()).isEqualTo(Exactness.EXACT);
        assertThat(small.score(chain(6))).isEqualTo(6);
    }

    @Test
    void ingest_fullWithDrop_isCountedDegradedAndReplayed() throws InterruptedException {
        FeedFixture small = new FeedFixture(
                FeedConfig.builder().ingestBound(1, FeedConfig.Overflow.DROP).build());
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch filled = new CountDownLatch(1);
        small.listen(small.replaying()).deliver(0);
        small.publisher.loses = sequence -> {
            // The replay of batch 1 is being answered: other producers find the rank busy.
            busy.countDown();
            await(filled);
            return false;
        };
        Thread worker = new Thread(() -> small.deliver(2));
        worker.start();
        busy.await();
        small.deliver(3, 4, 5);
        assertThat(small.count(FeedCounter.DROPPED)).isEqualTo(2);
        filled.countDown();
        worker.join();
        assertThat(small.seen).contains(Exactness.RECOVERING).last().isEqualTo(Exactness.EXACT);
        assertThat(small.score(chain(6))).as("dropped, noticed, replayed").isEqualTo(6);
    }

    @Test
    void ingest_fullWithDropAndNoReplay_staysDegraded() throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch filled = new CountDownLatch(1);
        IndexFeed feed = IndexFeed.builder(f.index, f.time, f.time)
                .config(FeedConfig.builder()
                        .ingestBound(1, FeedConfig.Overflow.DROP)
                        .build())
                .observer(new FeedObserver() {
                    @Override
                    public void onOrphan(WorkerRank rank, int blocks) {
                        busy.countDown();
                        await(filled);
                    }
                })
                .build();
        feed.register(RANK, FeedSource.liveOnly());
        Thread worker = new Thread(() -> feed.offer(batch(0, stored(9L, 1))));
        worker.start();
        busy.await();
        feed.offer(batch(1, stored(null, 1)));
        feed.offer(batch(2, stored(null, 2)));
        filled.countDown();
        worker.join();
        assertThat(feed.exactness(RANK)).contains(new Exactness.Degraded(Reason.INGEST_OVERFLOW, Direction.OVERCOUNT));
        feed.offer(batch(3, new KvEvent.Cleared()));
        assertThat(feed.exactness(RANK)).contains(Exactness.EXACT);
    }

    @Test
    void ingest_fullWithBlock_waitsAndLosesNothing() throws InterruptedException {
        FeedFixture small = new FeedFixture(
                FeedConfig.builder().ingestBound(2, FeedConfig.Overflow.BLOCK).build());
        small.listen(FeedSource.liveOnly());
        List<EventBatch> batches = new ArrayList<>();
        WorkerRank other = WorkerRank.of(2);
        small.feed.register(other, FeedSource.liveOnly());
        Thread second = new Thread(() -> {
            for (long i = 0; i < 2000; i++) {
                small.feed.offer(FeedFixture.Publisher.chain(other, i, 0));
            }
        });
        second.start();
        for (long i = 0; i < 2000; i++) {
            batches.add(small.publisher.batch(i));
        }
        batches.forEach(small.feed::offer);
        second.join();
        assertThat(small.score(chain(2000))).isEqualTo(2000);
        assertThat(FeedFixture.score(small.index, other, chain(2000))).isEqualTo(2000);
        assertThat(small.count(FeedCounter.DROPPED)).isZero();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void observer_thatThrows_disturbsNothing() {
        IndexFeed feed = IndexFeed.builder(f.index, f.time, f.time)
                .observer(new FeedObserver() {
                    @Override
                    public void onGap(WorkerRank rank, long expected, long got) {
                        throw new IllegalStateException("observer");
                    }
                })
                .build();
        feed.register(RANK, f.replaying());
        feed.offer(f.publisher.batch(0));
        feed.offer(f.publisher.batch(2));
        assertThat(f.score(1, 2, 3)).isEqualTo(3);
    }

    // ---- building blocks

    private static long[] chain(int length) {
        return LongStream.rangeClosed(1, length).toArray();
    }

    private static KvEvent.Stored rootChain(int length) {
        return KvEvent.Stored.device(null, chain(length), chain(length));
    }

    private static KvEvent.Stored stored(@Nullable Long parent, long... blocks) {
        return KvEvent.Stored.device(parent, blocks, blocks);
    }

    private static EventBatch batch(long sequence, KvEvent... events) {
        return new EventBatch.Decoded(RANK, sequence, sequence, List.of(events));
    }
}
