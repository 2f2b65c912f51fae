/// The generator xorshift64*, which makes the same records in every run.
struct Generator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func next(below limit: UInt64) -> UInt64 { next() % limit }
}

extension Array {
  mutating func shuffle(with generator: inout Generator) {
    for i in stride(from: count - 1, to: 0, by: -1) {
      swapAt(i, Int(generator.next(below: UInt64(i + 1))))
    }
  }
}
