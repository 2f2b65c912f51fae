internal import LodestoreFormat

extension Value {
  /// Returns whether records store the same bytes for both values.
  ///
  /// Equality is wider: canonically equivalent texts are equal, and so are −0 and 0.
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
  /// Returns whether the member names have the same bytes, which is how documents distinguish
  /// names.
  func hasSameBytes(as other: [String]) -> Bool {
    elementsEqual(other) { $0.utf8.elementsEqual($1.utf8) }
  }
}
