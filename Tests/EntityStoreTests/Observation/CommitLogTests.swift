import LodestoreFormat
import Testing

@testable import EntityStore

/// The log of commits that are not reported to observers yet, without a store.
@Suite struct `The log of commits` {
  private static let entity = EntityNumber(1)

  private static func delta(_ ids: Range<UInt64>) -> CommitDelta {
    CommitDelta(entities: [entity: EntityDelta(touched: IDRuns([ids]))])
  }

  private static func log(reported: UInt64, lastWrite: UInt64? = nil) -> CommitLog {
    var log = CommitLog()
    log.report(reported, lastWrite: lastWrite)
    return log
  }

  private static func touched(_ deltas: [CommitDelta]?) -> [[Range<UInt64>]]? {
    deltas?.map { $0.entities[entity]?.touched.ranges ?? [] }
  }

  @Test func `the log of commits reports each commit once, with the changes of its writes`() {
    var log = Self.log(reported: 4)
    log.note(Self.delta(1..<3), of: 5)
    log.note(Self.delta(7..<8), of: 5)
    log.end(5)
    log.note(Self.delta(9..<10), of: 6)
    log.end(6)
    #expect(log.newest == 6)
    let news = log.take(through: 6)
    #expect(news?.from == 4)
    #expect(Self.touched(news?.deltas) == [[1..<3, 7..<8], [9..<10]])
    log.report(6, lastWrite: nil)
    let rest = log.take(through: 6)
    #expect(rest?.from == nil && log.count == 0 && log.reported == 6)
  }

  @Test func `the log keeps commits that a read does not see yet`() {
    var log = Self.log(reported: 4)
    for commit in UInt64(5)...7 {
      log.note(Self.delta(commit..<commit + 1), of: commit)
      log.end(commit)
    }
    let seen = log.take(through: 5)
    #expect(Self.touched(seen?.deltas) == [[5..<6]])
    log.report(5, lastWrite: nil)
    #expect(log.count == 2)
    let rest = log.take(through: 7)
    #expect(Self.touched(rest?.deltas) == [[6..<7], [7..<8]])
  }

  @Test func `the log recognizes a commit of another process between two reports`() {
    var log = Self.log(reported: 4, lastWrite: 12)
    log.note(Self.delta(1..<2), of: 6)
    log.end(6)
    let news = log.take(through: 6)
    #expect(news?.from == 4 && news?.deltas == nil && log.reportedWrite == 12)
    // The next commit is one of this process again.
    log.report(6, lastWrite: 14)
    log.note(Self.delta(2..<3), of: 7)
    log.end(7)
    let next = log.take(through: 7)
    #expect(Self.touched(next?.deltas) == [[2..<3]])
  }

  @Test func `the log treats a commit without a report as a change of anything`() {
    var log = Self.log(reported: 4)
    log.end(5)
    let news = log.take(through: 5)
    #expect(news?.deltas?.map(\.isUnknown) == [true])
  }

  @Test func `the log treats a commit as unknown if one of its writes began unreported`() {
    var log = Self.log(reported: 4)
    log.doubt(through: 5)
    log.note(Self.delta(1..<2), of: 5)
    log.end(5)
    log.note(Self.delta(1..<2), of: 6)
    log.end(6)
    let news = log.take(through: 6)
    #expect(news?.deltas?.map(\.isUnknown) == [true, false])
  }

  @Test func `the log drops positions that nobody waits for, and continues after them`() {
    var log = Self.log(reported: 4, lastWrite: 3)
    log.note(Self.delta(1..<2), of: 5)
    log.drop(through: 5)
    #expect(log.count == 0 && log.reported == 5 && log.reportedWrite == nil)
    // The report of a round that read an earlier commit arrives late, and changes nothing.
    log.report(4, lastWrite: 3)
    #expect(log.reported == 5 && log.reportedWrite == nil)
  }
}
