import Foundation

/// Random numbers that a seed repeats: SplitMix64.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  /// Bytes that zstd compresses to about half, as records do.
  mutating func bytes(_ count: Int) -> [UInt8] {
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices { words[index] = next() & 0x0f0f_0f0f_0f0f_0f0f | 1 << 6 }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
  }
}

/// The number of damaged inputs that a test tries: few by default, more if the variable
/// `LODESTORE_CASES` is set.
func caseCount(byDefault count: Int) -> Int {
  ProcessInfo.processInfo.environment["LODESTORE_CASES"].flatMap { Int($0) } ?? count
}
