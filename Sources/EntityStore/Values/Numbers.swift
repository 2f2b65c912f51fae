/// The number of a commit of a store's file, which is LMDB's transaction id.
///
/// Each commit, by any process, has the next number; several writes may share a commit. Reads under
/// one number see the content that this commit left. A compacted copy of a file starts counting
/// again.
public struct CommitNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether `lhs` was committed before `rhs`.
  @_documentation(visibility: internal)
  public static func < (lhs: CommitNumber, rhs: CommitNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  /// The number as text.
  public var description: String { String(rawValue) }
}

/// The position of a write in the order of all writes of a store.
///
/// Writes that share a commit have different numbers.
struct WriteNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  static func < (lhs: WriteNumber, rhs: WriteNumber) -> Bool { lhs.rawValue < rhs.rawValue }

  var description: String { String(rawValue) }
}

/// The number of a file's schema, which increases with every change of the catalogue, and when an
/// optional tree is created.
///
/// See Format.md, "Header".
struct SchemaNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// A number that no file has, used before a schema has been read.
  static let unread = SchemaNumber(.max)

  /// The highest number that a file may have.
  static let highest = SchemaNumber(1 << 62)

  var next: SchemaNumber { SchemaNumber(rawValue &+ 1) }

  static func < (lhs: SchemaNumber, rhs: SchemaNumber) -> Bool { lhs.rawValue < rhs.rawValue }

  var description: String { String(rawValue) }
}
