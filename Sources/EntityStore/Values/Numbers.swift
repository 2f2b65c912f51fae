/// The number of a commit of a store's file: LMDB's transaction id.
///
/// Every commit, of whatever process, has the next one; several writes may share a commit. What was
/// read under one number is what that commit left. A compacted copy of a file counts anew.
public struct CommitNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether `lhs` was committed before `rhs`.
  @_documentation(visibility: internal)
  public static func < (lhs: CommitNumber, rhs: CommitNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  /// The number.
  public var description: String { String(rawValue) }
}

/// The position of a write in the order of all writes of a store.
///
/// Writes that share a commit have a number each.
struct WriteNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// That of the write after this one.
  var next: WriteNumber { WriteNumber(rawValue &+ 1) }

  static func < (lhs: WriteNumber, rhs: WriteNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  var description: String { String(rawValue) }
}

/// The number of a file's schema: raised by one with every change of the catalogue, and when an
/// optional tree is made.
///
/// See Format.md, "Header".
struct SchemaNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// That of no file: nothing has been read yet.
  static let unread = SchemaNumber(.max)

  /// The highest that a file may have.
  static let highest = SchemaNumber(1 << 62)

  var next: SchemaNumber { SchemaNumber(rawValue &+ 1) }

  static func < (lhs: SchemaNumber, rhs: SchemaNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  var description: String { String(rawValue) }
}
