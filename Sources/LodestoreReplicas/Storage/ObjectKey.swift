/// The name of an object: components of text with slashes between them.
///
/// A key is safe as a path below a folder and as a path of an address. A key has 1 to 1,024 bytes
/// of UTF-8 without control characters. No component is empty, `.` or `..`. A component
/// has at most 200 bytes.
package struct ObjectKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  package static let byteLimit = 1024
  package static let componentByteLimit = 200

  package let text: String

  /// Creates a key; `nil` for text that breaks the rules above.
  package init?(_ text: String) {
    guard (1...Self.byteLimit).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isUsable = parts.allSatisfy { part in
      (1...Self.componentByteLimit).contains(part.count) && !part.elementsEqual(".".utf8)
        && !part.elementsEqual("..".utf8)
    }
    guard isUsable else { return nil }
    self.text = text
  }

  /// The key of an object of a replica, whose names keep the rules above.
  init(_ name: ReplicaName) { text = name.text }

  package var description: String { text }

  /// Keys are ordered by their bytes, as services list them.
  package static func < (one: ObjectKey, other: ObjectKey) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }
}
