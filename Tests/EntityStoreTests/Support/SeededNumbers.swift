import Foundation

/// Random numbers that a seed repeats (SplitMix64).
///
/// The seed of a run is printed before its first use, so that a trap leaves it in the output;
/// `LODESTORE_SEED` replays it. Each test adds a salt of its own, so that its numbers do not depend
/// on the other tests of the run.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(salt: UInt64) { self.init(seed: Self.runSeed &+ salt &* 0x9e37_79b9_7f4a_7c15) }

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// True in one of `count` cases.
  mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// `original` cut, made longer, or with a few other bytes or bits.
  mutating func mutated(_ original: [UInt8]) -> [UInt8] {
    var bytes = original
    switch below(4) {
    case 0: bytes.removeLast(below(bytes.count - 1))
    case 1: bytes += (0...below(20)).map { UInt8(truncatingIfNeeded: $0) }
    case 2: bytes[below(bytes.count)] = [0, 1, 0x7f, 0x80, 0xff][below(5)]
    default:
      for _ in 0...below(4) { bytes[below(bytes.count)] ^= 1 << UInt8(below(8)) }
    }
    return bytes
  }

  static let runSeed: UInt64 = {
    let seed = UInt64(environmentNumber("LODESTORE_SEED") ?? .random(in: 0...Int.max))
    print("LODESTORE_SEED=\(seed) repeats the random values of EntityStoreTests")
    return seed
  }()

  /// The text to add to the message of a failure.
  static var replay: String { "LODESTORE_SEED=\(runSeed)" }

  /// A number that the environment sets, for longer runs.
  static func environmentNumber(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }
}
