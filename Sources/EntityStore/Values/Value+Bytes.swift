internal import LodestoreFormat

extension Value {
  /// Whether a record has the same bytes for both: equality takes characters in two forms for the same,
  /// and zeros of both signs.
  func hasSameBytes(as other: Value) -> Bool {
    switch (self, other) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a.bitPattern == b.bitPattern
    default: self == other
    }
  }
}

extension [String] {
  /// Whether these are the same names of members, which documents tell apart by their bytes.
  func hasSameBytes(as other: [String]) -> Bool {
    elementsEqual(other) { $0.utf8.elementsEqual($1.utf8) }
  }
}
