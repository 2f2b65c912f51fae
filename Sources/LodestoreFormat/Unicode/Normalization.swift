import LodestoreBytes

/// The normalization forms NFC and NFD of UAX #15, by a table of Unicode 17.0 that never changes.
///
/// The library does not use the system's normalization, because index keys hold NFC and a system
/// update could invalidate them. Scalars that Unicode 17.0 does not assign stay unchanged, and so
/// do bytes that are not UTF-8. The time is linear in the text's length, except for sorting the
/// marks of one base.
package enum Normalization {
  /// Whether the text is in NFC.
  package static func isNFC(_ utf8: ByteView) -> Bool {
    if isCertainlyNFC(utf8) { return true }
    var normal: [UInt8] = []
    appendNFC(of: utf8, to: &normal)
    return normal._withBytes { $0.elementsEqual(utf8) }
  }

  /// A fast check: true only for text in NFC; false for all other text and for some text in NFC.
  package static func isCertainlyNFC(_ utf8: ByteView) -> Bool {
    let count = utf8.count
    var offset = 0
    while count &- offset >= 8 {
      let word = utf8.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { break }
      offset &+= 8
    }
    // Scalars below U+0300 are all stable, and their first bytes are below 0xcc.
    while offset < count, utf8[offset] < 0xcc { offset &+= 1 }
    return offset == count || firstDoubt(utf8, from: offset, .composed) == nil
  }

  package static func appendNFC(of utf8: ByteView, to bytes: inout [UInt8]) {
    append(utf8, .composed, to: &bytes)
  }

  package static func appendNFD(of utf8: ByteView, to bytes: inout [UInt8]) {
    append(utf8, .decomposed, to: &bytes)
  }
}

extension Normalization {
  private enum Form { case composed, decomposed }

  /// The last boundary before the first scalar that may change.
  ///
  /// `start` must be a boundary.
  private static func firstDoubt(_ utf8: ByteView, from start: Int, _ form: Form) -> Int? {
    let tables = NormalizationTables.shared
    let doubts: UInt32 =
      switch form {
      case .composed:
        NormalizationFacts.isSecond | NormalizationFacts.isUnstable
          | NormalizationFacts.startsInside
      case .decomposed: NormalizationFacts.hasDecomposition
      }
    let count = utf8.count
    var offset = start
    var boundary = start
    var lastClass: UInt8 = 0
    while offset < count {
      if utf8[offset] < 0x80 {
        boundary = offset
        lastClass = 0
        offset &+= 1
        continue
      }
      let (scalar, length) = UTF8Scalar.decode(utf8, at: offset)
      let facts = tables.facts(scalar)
      let combiningClass = facts.combiningClass
      if facts.isBoundary { boundary = offset }
      if facts.has(doubts) || (combiningClass != 0 && combiningClass < lastClass)
        || (form == .decomposed && Hangul.syllables.contains(scalar))
      {
        return boundary
      }
      lastClass = combiningClass
      offset &+= length
    }
    return nil
  }

  private static func append(_ utf8: ByteView, _ form: Form, to bytes: inout [UInt8]) {
    var segment = NormalizationSegment()
    var offset = 0
    bytes.reserveCapacity(bytes.count + utf8.count)
    while offset < utf8.count {
      let rest = utf8[offset...]
      guard let doubt = firstDoubt(rest, from: 0, form) else {
        bytes.append(contentsOf: rest)
        return
      }
      bytes.append(contentsOf: rest[..<doubt])
      offset &+= doubt
      offset &+= segment.read(utf8[offset...])
      segment.sort()
      if form == .composed { segment.compose() }
      segment.append(to: &bytes)
    }
  }
}

/// The scalars from one boundary to the next, decomposed.
private struct NormalizationSegment {
  private struct Element {
    /// The scalar, or a byte that is not UTF-8 marked by ``byteMark``.
    var scalar: UInt32
    var combiningClass: UInt8
  }

  /// The longest run of marks that is sorted by insertion, which takes quadratic time.
  private static let shortRun = 16

  private static let byteMark: UInt32 = 1 << 31

  private let tables = NormalizationTables.shared
  private var elements: [Element] = []

  /// Reads the scalars up to the next boundary and returns the number of their bytes.
  mutating func read(_ utf8: ByteView) -> Int {
    elements.removeAll(keepingCapacity: true)
    var offset = 0
    while offset < utf8.count {
      let (scalar, length) = UTF8Scalar.decode(utf8, at: offset)
      let facts = tables.facts(scalar)
      if offset > 0, facts.isBoundary { break }
      if facts.has(NormalizationFacts.hasDecomposition) {
        for part in tables.decompositions[facts.decomposition] { append(part) }
      } else if Hangul.syllables.contains(scalar) {
        let letters = Hangul.letters(scalar)
        for letter in [letters.0, letters.1, letters.2] where letter != 0 { append(letter) }
      } else {
        let kept = scalar == UTF8Scalar.invalid ? Self.byteMark | UInt32(utf8[offset]) : scalar
        elements.append(Element(scalar: kept, combiningClass: facts.combiningClass))
      }
      offset &+= length
    }
    return offset
  }

  private mutating func append(_ part: UInt32) {
    elements.append(Element(scalar: part, combiningClass: tables.facts(part).combiningClass))
  }

  /// Canonical ordering: sorts the marks between two starters by class, preserving the order within
  /// a class.
  mutating func sort() {
    var start = 0
    while start < elements.count {
      guard elements[start].combiningClass != 0 else {
        start &+= 1
        continue
      }
      var end = start &+ 1
      while end < elements.count, elements[end].combiningClass != 0 { end &+= 1 }
      if end &- start <= Self.shortRun { insertionSort(start..<end) } else { sort(start..<end) }
      start = end
    }
  }

  private mutating func insertionSort(_ run: Range<Int>) {
    for index in run.dropFirst() {
      var target = index
      while target > run.lowerBound,
        elements[target &- 1].combiningClass > elements[target].combiningClass
      {
        elements.swapAt(target &- 1, target)
        target &-= 1
      }
    }
  }

  private mutating func sort(_ run: Range<Int>) {
    // Sorting by class and position, because the standard library does not promise a stable sort.
    let order = run.map { UInt64(elements[$0].combiningClass) << 48 | UInt64($0) }.sorted()
    let sorted = order.map { elements[Int($0 & 0xffff_ffff_ffff)] }
    elements.replaceSubrange(run, with: sorted)
  }

  mutating func compose() {
    var count = 0
    var starter: Int?
    // The value is -1 directly after the starter, so that a second starter can compose with it.
    var lastClass = -1
    for element in elements {
      if let starter, lastClass < Int(element.combiningClass),
        let composite = composite(elements[starter].scalar, element.scalar)
      {
        elements[starter].scalar = composite
        continue
      }
      if element.combiningClass == 0 {
        starter = count
        lastClass = -1
      } else {
        lastClass = Int(element.combiningClass)
      }
      elements[count] = element
      count &+= 1
    }
    elements.removeSubrange(count...)
  }

  private func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
    guard tables.facts(second).has(NormalizationFacts.isSecond) else { return nil }
    return Hangul.composite(first, second) ?? tables.composite(first, second)
  }

  func append(to bytes: inout [UInt8]) {
    for element in elements {
      if element.scalar & Self.byteMark != 0 {
        bytes.append(UInt8(truncatingIfNeeded: element.scalar))
      } else {
        UTF8Scalar.append(element.scalar, to: &bytes)
      }
    }
  }
}
