internal import LodestoreFormat

/// The reason why changes of a store cannot be read for a copy, or not be made in one.
package enum ReplayError: Error, Sendable, Hashable {
  /// The history has been purged beyond the write `after`. The copy must begin again.
  case expired(after: UInt64, firstKept: UInt64)
  /// The changes are those of another store.
  case otherStore(expected: [UInt8], found: [UInt8])
  /// The history ends before the write that the copy has, because the file is an older one.
  case behind(asked: UInt64, last: UInt64)
  /// The catalogue differs. The copy must begin again.
  case otherSchema
  /// The history does not record the entities with these names.
  case unrecorded([String])
  /// Relationships with these names lead to entities that are left out.
  case leftOutRelationships([String])
  case unknownEntity(String)
  /// A copy cannot have only the records of an entity that fulfil a condition.
  case unsuitableCondition(entity: String, reason: String)
  case bucketTooLarge(String, byteCount: Int, limit: Int)
  /// The changes do not follow those that the copy has.
  case gap(expected: UInt64, found: UInt64)
  /// The store is no copy: it has no cursor.
  case noCursor
  /// The copy would differ from the store in the parts with these names.
  case diverged([String])
  /// The changes contradict each other or the schema.
  case damaged(String)

  /// The failed action, its reason and the next step, in one line.
  package var message: String {
    switch self {
    case .expired(let after, let firstKept):
      "cannot read the changes after write \(after): the history begins with write \(firstKept); "
        + "begin the copy again"
    case .otherStore(let expected, let found):
      "cannot use these changes: they are of the store \(Self.hexadecimal(found)), not of "
        + Self.hexadecimal(expected)
    case .behind(let asked, let last):
      "cannot read the changes after write \(asked): the history ends with write \(last), so the "
        + "file is an older one than the copy"
    case .otherSchema:
      "cannot make these changes: the schema of the store differs from that of the copy; begin the "
        + "copy again"
    case .unrecorded(let names):
      "cannot replay \(names.joined(separator: ", ")): the history does not record these entities; "
        + "declare a history for them, or leave them out"
    case .leftOutRelationships(let names):
      "cannot replay only some entities: \(names.joined(separator: ", ")) would lead to entities "
        + "that are left out; replay these too"
    case .unknownEntity(let name):
      "cannot replay '\(name)': the store has no such entity"
    case .unsuitableCondition(let entity, let reason):
      "cannot follow \(entity) by its condition: \(reason); use another condition, or follow all "
        + "of its records"
    case .bucketTooLarge(let name, let byteCount, let limit):
      "cannot replay bucket '\(name)': it has \(byteCount) bytes, the limit is \(limit); keep less "
        + "in it"
    case .gap(let expected, let found):
      "cannot make these changes: they follow write \(found), and the copy ends with write "
        + "\(expected)"
    case .noCursor: "cannot make these changes: the store is no copy of another one"
    case .diverged(let names):
      "cannot make these changes: the copy would differ from the store in "
        + "\(names.joined(separator: ", ")); begin the copy again"
    case .damaged(let reason): "cannot make these changes: \(reason)"
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { hex($0) }.joined()
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }
}

extension ReplayError: CustomStringConvertible {
  package var description: String { message }
}
