/// The identity of a record of entity `E`: given at insert, permanent, never reused.
///
/// A new entity value has an ``unassigned`` id; what the store returns has its own. Ids of one
/// entity ascend in the order of insertion.
public struct RecordID<E>: Hashable, Sendable, Comparable, Codable {
  /// The number under which the record is stored; 0 when none has been given yet.
  public let rawValue: UInt64

  /// An id with a known number, as for one that was kept elsewhere.
  @inlinable
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The id of a value that has not been inserted.
  public init() { rawValue = 0 }

  /// The id of a value that has not been inserted.
  public static var unassigned: RecordID { RecordID() }

  /// Whether the store has given this id.
  public var isAssigned: Bool { rawValue != 0 }

  /// Whether `lhs` was inserted before `rhs`.
  @_documentation(visibility: internal)
  public static func < (lhs: RecordID, rhs: RecordID) -> Bool { lhs.rawValue < rhs.rawValue }

  /// Reads the number alone.
  @_documentation(visibility: internal)
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(UInt64.self)
  }

  /// Writes the number alone.
  @_documentation(visibility: internal)
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

extension KeyedDecodingContainer {
  /// The id of a record; unassigned where there is none, so that an entity that is `Decodable` reads what
  /// knows nothing of ids, as the answers of a service.
  ///
  /// A service's own `id` is another number: an attribute for it goes by another name, with the
  /// `CodingKeys` that say so.
  public func decode<E>(_: RecordID<E>.Type, forKey key: Key) throws -> RecordID<E> {
    try decodeIfPresent(RecordID<E>.self, forKey: key) ?? .unassigned
  }
}

extension RecordID: CustomStringConvertible {
  /// The number.
  public var description: String { String(rawValue) }
}
