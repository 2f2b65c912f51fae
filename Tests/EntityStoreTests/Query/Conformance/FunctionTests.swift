import EntityStore
import Testing

@Suite struct `Functions of format strings` {
  /// Conditions with functions, and the number of records from 0 to 999 for which each is true.
  static let counts = [
    ("sqrt:(number) == 5", 1), ("sqrt:(number) < 10", 100), ("sqrt:(number - 500) >= 0", 500),
    ("sqrt:(name) == 1", 0), ("modulus:by:(number, 7) == 3", 143), ("number % 7 == 3", 143),
    ("modulus:by:(number, 0) == NULL", 1_000), ("add:to:(number, other) == 999", 1_000),
    ("from:subtract:(number, other) == 1", 1), ("multiply:by:(number, number) == 49", 1),
    ("divide:by:(number, 2) == 3", 2), ("raise:toPower:(number, 2) == 49", 1),
    ("floor:(number / 2.0) == 3", 2), ("ceiling:(number / 2.0) == 3", 2),
    ("abs:(number - 7) <= 1", 3), ("number & 4 != 0", 500),
    ("bitwiseAnd:with:(number, 4) == 4", 500),
    ("number & 4 + 1 == 5", 500), ("number | 1 == number", 500),
    ("bitwiseOr:with:(number, 6) == 7", 4), ("bitwiseXor:with:(number, 1) == 0", 1),
    ("leftshift:by:(number, 2) == 28", 1), ("rightshift:by:(number, 3) == 1", 8),
    ("leftshift:by:(number + 1, 64) == NULL", 1_000), ("leftshift:by:(number, -1) == NULL", 1_000),
    ("onesComplement:(number) == -8", 1), ("number / 2.0 & 1 == NULL", 1_000),
    ("grade & 1 == 1", 500),
  ]

  @Test func `functions of format strings have the results that their names state`() throws {
    try withTemporaryStore([Piece.self]) { store in
      try store.insert((0..<1_000).map { Piece($0) })
      for (format, count) in Self.counts {
        #expect(try store.count(Piece.where(format: format)) == count, "\(format)")
      }
    }
  }
}
