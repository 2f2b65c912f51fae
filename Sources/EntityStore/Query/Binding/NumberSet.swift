/// The numbers of an IN, as ``OrderedNumber``.
struct NumberSet: Sendable {
  /// Ascending, without repetition.
  let sorted: [Int64]
  private let hashed: Set<Int64>

  init(_ keys: [Int64]) {
    var unique: [Int64] = []
    for key in keys.sorted() where unique.last != key { unique.append(key) }
    sorted = unique
    hashed = unique.count > 16 ? Set(unique) : []
  }

  func contains(_ key: Int64) -> Bool {
    sorted.count > 16 ? hashed.contains(key) : sorted.contains(key)
  }
}
