import EntityStore
import Foundation
import LodestoreBytes
import LodestoreFormat

@testable import LodestoreReplicas

/// Random steps that a seed repeats.
///
/// The seed of a run is printed, and `LODESTORE_SEED` replays it.
struct SeededChanges: RandomNumberGenerator {
  private var random: SeededRandom
  private var write: UInt64 = 0

  init(salt: UInt64) {
    random = SeededRandom(seed: Self.runSeed &+ salt &* 0x9e37_79b9_7f4a_7c15)
  }

  mutating func next() -> UInt64 { random.next() }

  static let runSeed: UInt64 = {
    let text = ProcessInfo.processInfo.environment["LODESTORE_SEED"]
    let seed = text.flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    print("LODESTORE_SEED=\(seed) repeats the random values of LodestoreReplicasTests")
    return seed
  }()

  static var replay: String { "LODESTORE_SEED=\(runSeed)" }

  /// How many random cases a test tries: few by default, `LODESTORE_CASES` for long runs.
  static func caseCount(byDefault count: Int) -> Int {
    ProcessInfo.processInfo.environment["LODESTORE_CASES"].flatMap { Int($0) } ?? count
  }

  private mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &self) == 0 }

  /// The shape of random steps.
  struct Shape {
    /// The highest id.
    var ids: UInt64 = 1 << 40
    var continues = true
  }

  mutating func steps(_ count: Int, _ shape: Shape = Shape()) -> [ReplayStep] {
    var steps: [ReplayStep] = []
    var isWithin = false
    for index in 0..<count {
      if !isWithin {
        let gap = chance(4) ? UInt64.random(in: 1...300, using: &self) : 1
        write += gap
      }
      let more = chance(5) ? UInt64.random(in: 1...9, using: &self) : 0
      let last = write + more
      var step = isWithin ? emptied(steps[index - 1]) : newStep(write...last)
      step.continues = shape.continues && index < count - 1 && chance(6)
      fill(&step, shape)
      isWithin = step.continues
      write = step.writes.upperBound
      steps.append(step)
    }
    return steps
  }

  private mutating func newStep(_ writes: ClosedRange<UInt64>) -> ReplayStep {
    let authors: [String?] = [nil, "editor", "é\u{0}", ""]
    return ReplayStep(
      writes: writes, time: .random(in: -1e9...1e9, using: &self),
      author: authors[.random(in: 0..<4, using: &self)],
      context: authors[.random(in: 0..<4, using: &self)])
  }

  private func emptied(_ step: ReplayStep) -> ReplayStep {
    ReplayStep(
      writes: step.writes, time: step.time, author: step.author, context: step.context)
  }

  private mutating func fill(_ step: inout ReplayStep, _ shape: Shape) {
    for entity in 1...3 as ClosedRange<UInt32> {
      if chance(2) { step.records.append(records(entity, shape)) }
      if chance(4) {
        var runs = IDRuns(
          ids(shape, 3).map { $0..<$0 + .random(in: 1...4, using: &self) })
        // An id is put or deleted in a step, not both.
        let put = Set(step.records.filter { $0.entity.rawValue == entity }.flatMap(\.ids))
        runs = IDRuns(runs.filter { !put.contains($0) }.map { $0..<$0 + 1 })
        if !runs.isEmpty {
          step.deleted.append(ReplayStep.Deleted(entity: EntityNumber(entity), ids: runs))
        }
      }
      if chance(3) {
        step.nextIDs[EntityNumber(entity)] = UInt64.random(in: 1...1 << 63, using: &self)
      }
    }
    for relationship in [1, 9, 1 << 20] as [UInt32] where chance(3) {
      let all = zip(ids(shape, 6), ids(shape, 6)).map { LinkPair(from: $0, to: $1) }
      let pairs = Array(Set(all)).sorted()
      if pairs.isEmpty { continue }
      step.links.append(
        HistoryPart.Links(
          relationship: relationship, kind: StepLinks.kinds[.random(in: 0..<3, using: &self)],
          pairs: pairs))
    }
  }

  /// Ascending ids.
  private mutating func ids(_ shape: Shape, _ limit: Int) -> [UInt64] {
    let count = Int.random(in: 1...limit, using: &self)
    return Set((0..<count).map { _ in UInt64.random(in: 1...shape.ids, using: &self) }).sorted()
  }

  private mutating func records(_ entity: UInt32, _ shape: Shape) -> ReplayStep.Records {
    var records = ReplayStep.Records(of: EntityNumber(entity))
    for id in ids(shape, 5) {
      let count = Int.random(in: 6...(chance(20) ? 5_000 : 80), using: &self)
      records.append(id, (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) })
    }
    return records
  }

  mutating func bucket(_ name: String) -> ReplayBucket {
    let keys = Set((0..<8).map { _ in [UInt8.random(in: 0...255, using: &self), 7] })
    let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
    return ReplayBucket(
      name: name,
      pairs: sorted.map { key in
        ReplayBucket.Pair(
          key: key, value: [UInt8](repeating: 3, count: .random(in: 0...40, using: &self)))
      })
  }
}

/// Entries for tests.
enum Entries {
  static let hash = (0..<32).map { UInt8($0) }
  static let store = UUIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)

  static let session = UUIDBytes(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)

  /// The head of a pack that has the writes 1 to `lastWrite`, in slot 1.
  static func head(_ lastWrite: UInt64) -> EntryHead {
    EntryHead(
      .pack, epoch: 1, slot: 1, previous: nil, store: store, session: session, firstWrite: 1,
      lastWrite: lastWrite, time: 0.5, schema: hash,
      digests: [
        [1, 0, 0, 0, 2]: ContentDigest(linkFrom: 1, to: 2), [3]: ContentDigest(linkFrom: 2, to: 3),
      ])
  }

  static func body(
    _ steps: [ReplayStep], _ buckets: [ReplayBucket] = []
  ) throws -> PackBody {
    var writer = try PackWriter()
    for step in steps { try writer.add(step) }
    for bucket in buckets { try writer.add(bucket) }
    return try writer.finish()
  }

  static func entry(
    _ steps: [ReplayStep], _ buckets: [ReplayBucket] = []
  ) throws -> LogEntry {
    try LogEntry(head(steps.last?.writes.upperBound ?? 1), try body(steps, buckets))
  }
}
