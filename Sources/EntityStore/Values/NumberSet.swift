internal import LodestoreFormat

/// The numbers of an IN, mapped by ``OrderedNumber``.
struct NumberSet: Sendable {
  /// The numbers in ascending order, without repetition.
  let sorted: [Int64]
  private let hashed: Set<Int64>

  init(_ keys: [Int64]) {
    var unique: [Int64] = []
    for key in keys.sorted() where unique.last != key { unique.append(key) }
    sorted = unique
    hashed = unique.count > Self.mostSearched ? Set(unique) : []
  }

  /// The number of numbers above which they are also put into a hash set.
  ///
  /// A shorter list is searched by halving, since building a hash set would take longer than
  /// looking all numbers up in an index.
  private static let mostSearched = 256

  func contains(_ key: Int64) -> Bool {
    if sorted.count > Self.mostSearched { return hashed.contains(key) }
    let position = sorted.partitioningIndex { $0 >= key }
    return position < sorted.count && sorted[position] == key
  }
}
