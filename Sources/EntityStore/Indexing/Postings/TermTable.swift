internal import LodestoreBytes

/// The terms of one batch, each with a number in the order of arrival.
struct TermTable: ~Copyable {
  /// The bytes of all terms.
  private var bytes: [UInt8] = []
  /// The offset in ``bytes`` at which each term ends.
  private var ends: [UInt32] = []
  private var hashes: [UInt32] = []
  /// The numbers plus one by hash, and 0 for a free place.
  ///
  /// The count is a power of two.
  private var places: [UInt32]

  init() {
    places = Array(repeating: 0, count: 1 << 6)
  }

  var count: Int { ends.count }
  /// The memory in bytes.
  var byteCount: Int { bytes.count + ends.count * 8 + places.count * 4 }

  func withTerm<R, E>(_ number: Int, _ body: (ByteView) throws(E) -> R) throws(E) -> R {
    let range = range(number)
    return try bytes._withBytes { (all) throws(E) in try body(all[range]) }
  }

  private func range(_ number: Int) -> Range<Int> {
    (number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])
  }

  /// Returns the number of `term`, which is added if it is new.
  mutating func number(of term: ByteView) -> UInt32 {
    let hash = Self.hash(term)
    let mask = places.count &- 1
    var place = Int(hash) & mask
    while true {
      let found = places[place]
      if found == 0 { break }
      let number = Int(found &- 1)
      if hashes[number] == hash {
        let range = range(number)
        let isSame = bytes._withBytes { $0[range].elementsEqual(term) }
        if isSame { return found &- 1 }
      }
      place = (place &+ 1) & mask
    }
    let number = UInt32(ends.count)
    bytes.append(contentsOf: term)
    ends.append(UInt32(bytes.count))
    hashes.append(hash)
    places[place] = number + 1
    if ends.count * 2 > places.count { grow() }
    return number
  }

  /// The number of `term`; `nil` if it has none.
  func known(_ term: ByteView) -> UInt32? {
    let hash = Self.hash(term)
    let mask = places.count &- 1
    var place = Int(hash) & mask
    while places[place] != 0 {
      let number = places[place] &- 1
      if hashes[Int(number)] == hash {
        let range = range(Int(number))
        if bytes._withBytes({ $0[range].elementsEqual(term) }) { return number }
      }
      place = (place &+ 1) & mask
    }
    return nil
  }

  private mutating func grow() {
    let mask = places.count * 2 - 1
    places = Array(repeating: 0, count: mask + 1)
    for (number, hash) in hashes.enumerated() {
      var place = Int(hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = UInt32(number + 1)
    }
  }

  @inline(__always)
  private static func hash(_ term: ByteView) -> UInt32 {
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var hash = UInt64(term.count) &* factor
    var offset = 0
    while offset &+ 8 <= term.count {
      hash = (hash ^ term.uint64(at: offset)) &* factor
      hash ^= hash &>> 29
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < term.count {
      rest = rest &<< 8 | UInt64(term[offset])
      offset &+= 1
    }
    hash = (hash ^ rest) &* factor
    return UInt32(truncatingIfNeeded: hash &>> 32)
  }

  /// The numbers of all terms in the order of their bytes.
  func sorted() -> [UInt32] {
    bytes._withBytes { all in
      var items = (0..<ends.count).map { number -> (word: UInt64, number: UInt32) in
        let term = all[range(number)]
        var word: UInt64 = 0
        for index in 0..<min(8, term.count) {
          word |= UInt64(term[index]) << UInt64(56 - 8 * index)
        }
        return (word, UInt32(number))
      }
      items.sort { a, b in
        if a.word != b.word { return a.word < b.word }
        return compareKeys(all[range(Int(a.number))], all[range(Int(b.number))]) < 0
      }
      return items.map(\.number)
    }
  }
}
