#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random numbers that a seed repeats (SplitMix64).
///
/// The seed of a run is in ``runSeed``. It is printed before the first use, so that a trap leaves
/// it in the output; `LODESTORE_SEED` replays it. Each test adds a salt of its own, so that its
/// numbers do not depend on the other tests of the run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(salt: UInt64) { state = Self.runSeed &+ salt &* 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  static let runSeed: UInt64 = {
    let seed = environmentNumber("LODESTORE_SEED") ?? .random(in: 0...UInt64.max)
    print("LODESTORE_SEED=\(seed) repeats the random values of LodestoreFormatTests")
    return seed
  }()

  /// The text to add to the message of a failure.
  static var replay: String { "LODESTORE_SEED=\(runSeed)" }

  /// The number of random cases that a test tries: few by default, more if the variable
  /// `LODESTORE_CASES` is set.
  static func caseCount(byDefault count: Int) -> Int {
    environmentNumber("LODESTORE_CASES").map { Int($0) } ?? count
  }

  private static func environmentNumber(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}
