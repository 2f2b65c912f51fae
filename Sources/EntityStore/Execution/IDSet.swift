/// A set of record ids, made of ascending ids.
///
/// The set has one bit for each number from the first id to the last one, unless most would be 0.
struct IDSet {
  private let first: UInt64
  private var bits: [UInt64] = []
  private var ids: Set<UInt64> = []

  init(_ ascending: [UInt64]) {
    first = ascending.first ?? 0
    let words = ((ascending.last ?? 0) - first) / 64 + 1
    guard words / 16 <= ascending.count else {
      ids = Set(ascending)
      return
    }
    bits = [UInt64](repeating: 0, count: Int(words))
    for id in ascending { bits[Int((id - first) / 64)] |= 1 << ((id - first) % 64) }
  }

  @inline(__always)
  func contains(_ id: UInt64) -> Bool {
    if bits.isEmpty { return ids.contains(id) }
    let (word, bit) = (id &- first).quotientAndRemainder(dividingBy: 64)
    return word < bits.count && bits[Int(word)] >> bit & 1 == 1
  }
}
