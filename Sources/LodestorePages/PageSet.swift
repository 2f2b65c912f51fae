/// A set of page numbers below a bound, stored as one bit each.
package struct PageSet {
  private var words: [UInt64]

  package init(bound: Int) { words = [UInt64](repeating: 0, count: (bound + 63) / 64) }

  /// Adds `page`, which must be below the bound, and returns whether it is new.
  package mutating func insert(_ page: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(page & 63)
    defer { words[page >> 6] |= bit }
    return words[page >> 6] & bit == 0
  }

  package mutating func formUnion(_ other: PageSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  package mutating func subtract(_ other: PageSet) {
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  package func isDisjoint(with other: PageSet) -> Bool {
    zip(words, other.words).allSatisfy { $0 & $1 == 0 }
  }

  package func contains(_ page: Int) -> Bool { words[page >> 6] & 1 << UInt64(page & 63) != 0 }
}
