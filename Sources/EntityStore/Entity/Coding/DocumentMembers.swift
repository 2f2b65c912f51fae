internal import LodestoreBytes
internal import LodestoreFormat

/// The order of an object's members: ascending by the UTF-8 bytes of their names.
enum DocumentMembers {
  /// The maximum number of array elements or members for which capacity is reserved before they are
  /// read.
  ///
  /// A count in a document cannot be trusted until its items are read.
  static let largestReservation = 1024

  @inline(__always)
  static func precedes(_ a: ByteView, _ b: ByteView) -> Bool {
    let shared = min(a.count, b.count)
    var at = 0
    while at < shared {
      if a[at] != b[at] { return a[at] < b[at] }
      at &+= 1
    }
    return a.count < b.count
  }

  static func precedes(_ a: String, _ b: String) -> Bool {
    let ordered = a.utf8.withContiguousStorageIfAvailable { left in
      b.utf8.withContiguousStorageIfAvailable { right in precedes(ByteView(left), ByteView(right)) }
    }
    return (ordered ?? nil) ?? a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  static func sorted<Value>(_ members: [String: Value]) -> [(key: String, value: Value)] {
    var result = Array(members)
    if result.count > 1 { result.sort { precedes($0.key, $1.key) } }
    return result
  }

  /// The error for two names that a document distinguishes and a Swift dictionary does not.
  static func equivalentNames(at offset: Int) -> FormatError {
    FormatError("a member name differs from another only in normalization", at: offset)
  }
}

extension DocumentReader {
  /// The next member's name as a string; throws when it is not valid UTF-8.
  mutating func memberName() throws(FormatError) -> String {
    let start = offset
    guard let name = String(validating: try name(), as: UTF8.self) else {
      throw FormatError("a member name is not valid UTF-8", at: start)
    }
    return name
  }
}
