/// Sorts record ids: by radix where there are many, as they have few significant bytes.
enum IDSort {
  private static let smallCount = 2_048

  static func sort(_ ids: inout [UInt64]) {
    guard ids.count > smallCount else {
      ids.sort()
      return
    }
    var all: UInt64 = 0
    var isSorted = true
    var previous: UInt64 = 0
    for id in ids {
      all |= id
      isSorted = isSorted && id >= previous
      previous = id
    }
    if isSorted { return }
    var scratch = [UInt64](repeating: 0, count: ids.count)
    var shift: UInt64 = 0
    while shift < 64, all &>> shift != 0 {
      pass(&ids, &scratch, shift)
      swap(&ids, &scratch)
      shift += 8
    }
  }

  /// The places of `ids` by ascending ids; of equal ones the first comes first.
  static func order(of ids: [UInt64]) -> [UInt32] {
    var order = ids.indices.map { UInt32(truncatingIfNeeded: $0) }
    var isSorted = true
    for place in ids.indices.dropFirst() where ids[place] < ids[place - 1] {
      isSorted = false
      break
    }
    if isSorted { return order }
    var entries = ids.enumerated().map { place, id in
      EntryArena.Entry(window: id, offset: UInt32(truncatingIfNeeded: place), keyCount: 0)
    }
    var scratch = EntryRoom()
    entries.withUnsafeMutableBufferPointer { KeySort.radixSort($0, scratch: &scratch) }
    for place in order.indices { order[place] = entries[place].offset }
    return order
  }

  /// One byte of all ids: counted, then placed.
  private static func pass(_ source: inout [UInt64], _ target: inout [UInt64], _ shift: UInt64) {
    var starts = [Int](repeating: 0, count: 257)
    for id in source { starts[Int(truncatingIfNeeded: (id &>> shift) & 255) + 1] += 1 }
    for place in 1...256 { starts[place] += starts[place - 1] }
    source.withUnsafeBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        for id in source {
          let digit = Int(truncatingIfNeeded: (id &>> shift) & 255)
          target[starts[digit]] = id
          starts[digit] += 1
        }
      }
    }
  }

  /// Sorts and removes repetitions.
  static func sortUnique(_ ids: inout [UInt64]) {
    sort(&ids)
    var last: UInt64?
    ids.removeAll { id in
      defer { last = id }
      return id == last
    }
  }
}
