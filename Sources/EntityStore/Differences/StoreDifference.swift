internal import LodestoreBytes
public import LodestoreEssentials
internal import LodestoreFormat

/// One difference between two stores, or between a store and its earlier state.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StoreDifference: Sendable, Hashable {
  /// A part of the schema.
  case schema(SchemaDifference)
  /// A record that exists in one of the two, or has different values.
  case record(StoredRecordDifference)
  /// A link in a link tree, or the position of a link in an order.
  case link(LinkDifference)
  /// A value in a bucket.
  case bucket(BucketDifference)
}

/// A record that differs, with its entity identified by name.
public struct StoredRecordDifference: Sendable, Hashable {
  /// The kind of the difference.
  public let kind: HistoryChange.Kind
  /// The entity's name.
  public let entity: String
  /// The record's id without its type, in the newer store; for a deleted record, in the older
  /// store.
  public let recordID: UInt64
  /// The id in the older store if records were matched by a key; otherwise ``recordID``.
  public let oldRecordID: UInt64
  /// The changed attributes, in the order of the newer store; for an inserted or deleted record all
  /// attributes.
  public let attributes: [AttributeDifference]
}

/// An attribute of a record, with its old and new value.
public struct AttributeDifference: Sendable, Hashable {
  /// The attribute's name.
  public let name: String
  let oldValue: Value?
  let newValue: Value?

  /// The value in the older store as JSON; `nil` without a record, or when the value was not kept.
  ///
  /// Null is `.null`. Dates are ISO 8601 text, data is Base64.
  public var old: JSONValue? { oldValue.map(Self.json) }
  /// The value in the newer store; see ``old``.
  public var new: JSONValue? { newValue.map(Self.json) }

  private static func json(_ value: Value) -> JSONValue {
    switch value {
    case .date, .uuid, .decimal: .string(KeyText.text(of: value))
    case .data(let bytes): .string(Data(bytes).base64EncodedString())
    case .document(let bytes): bytes._withBytes { (try? JSONValue(anyDocument: $0)) ?? .null }
    default: JSONValue(scalar: value) ?? .null
    }
  }
}

/// A link in a link tree, or the position of a link in an order.
public struct LinkDifference: Sendable, Hashable {
  /// The entity from whose perspective the relationship is named.
  public let entity: String
  /// The name of the relationship in that entity; empty when it has no name.
  public let relationship: String
  /// The entity of the targets.
  public let target: String
  /// The kind of the difference: only the newer store has the link, only the older one, or its
  /// position differs.
  ///
  /// Of the links in both stores, as few as possible are reported as moved.
  public let kind: HistoryLinks.Kind
  /// The record of ``entity``, without its type.
  public let recordID: UInt64
  /// The record of ``target``, without its type.
  public let targetID: UInt64
}

/// A value under a key of a bucket.
public struct BucketDifference: Sendable, Hashable {
  /// The kind of the difference.
  public let kind: HistoryChange.Kind
  /// The bucket's name.
  public let bucket: String
  /// The bytes of the key.
  public let key: [UInt8]
  /// The bytes in the older store; `nil` when the key does not exist there.
  public let old: Data?
  /// The bytes in the newer store; `nil` when the key does not exist there.
  public let new: Data?
}
