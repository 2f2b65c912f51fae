/// The identity of a record of entity `E`: assigned at insert, permanent, never reused.
///
/// A new entity value has an ``unassigned`` id. Values that the store returns have their record's
/// id. Ids of one entity ascend in the order of insertion.
public struct RecordID<E>: Hashable, Sendable, Comparable, Codable {
  /// The number under which the record is stored; 0 when the id is unassigned.
  public let rawValue: UInt64

  /// Creates an id from a known number, such as one that was stored elsewhere.
  @inlinable
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The id of a value that has not been inserted.
  public init() { rawValue = 0 }

  /// The id of a value that has not been inserted.
  public static var unassigned: RecordID { RecordID() }

  /// Whether the store has assigned this id.
  public var isAssigned: Bool { rawValue != 0 }

  /// Returns whether the record of `lhs` was inserted before the record of `rhs`.
  @_documentation(visibility: internal)
  public static func < (lhs: RecordID, rhs: RecordID) -> Bool { lhs.rawValue < rhs.rawValue }

  /// Reads the number only.
  @_documentation(visibility: internal)
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(UInt64.self)
  }

  /// Writes the number only.
  @_documentation(visibility: internal)
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

extension KeyedDecodingContainer {
  /// Decodes the id of a record; the id is unassigned when the key is absent.
  ///
  /// A `Decodable` entity can therefore decode data without ids, such as the responses of a web
  /// service.
  ///
  /// An `id` in the service's data is not a record id. Store it in an attribute with another name,
  /// and map that name to `id` in `CodingKeys`.
  public func decode<E>(_: RecordID<E>.Type, forKey key: Key) throws -> RecordID<E> {
    try decodeIfPresent(RecordID<E>.self, forKey: key) ?? .unassigned
  }
}

extension RecordID: CustomStringConvertible {
  /// The id's number as text.
  public var description: String { String(rawValue) }
}
