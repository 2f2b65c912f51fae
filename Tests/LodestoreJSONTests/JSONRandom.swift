import Foundation

/// SplitMix64: the same numbers from the same seed on every system.
struct JSONRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  /// A new seed, or that of `JSON_FUZZ_SEED` for a replay.
  static var seed: UInt64 {
    ProcessInfo.processInfo.environment["JSON_FUZZ_SEED"].flatMap(UInt64.init)
      ?? .random(in: 0...UInt64.max)
  }
}
