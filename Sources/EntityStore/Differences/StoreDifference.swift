#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import LodestoreBytes
internal import LodestoreFormat

/// One difference between two stores, or between a store and itself at an earlier time.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StoreDifference: Sendable, Hashable {
  /// A part of the schema.
  case schema(SchemaDifference)
  /// A record that one of the two has, or that has other values.
  case record(StoredRecordDifference)
  /// A link that no attribute holds, or its place in an order.
  case link(LinkDifference)
  /// A value in a bucket.
  case bucket(BucketDifference)
}

/// A record of an entity that is known by its name.
public struct StoredRecordDifference: Sendable, Hashable {
  /// The kind of the difference.
  public let kind: HistoryChange.Kind
  /// The entity's name.
  public let entity: String
  /// The record's id, without its type: in the newer store, of a deleted record in the older one.
  public let recordID: UInt64
  /// The id in the older store, where records were matched by a key; otherwise ``recordID``.
  public let oldRecordID: UInt64
  /// The attributes with other values, in the order of the newer store; of an inserted or deleted
  /// record all attributes.
  public let attributes: [AttributeDifference]
}

/// An attribute of a record, before and after.
public struct AttributeDifference: Sendable, Hashable {
  /// The attribute's name.
  public let name: String
  let oldValue: Value?
  let newValue: Value?

  /// The value in the older store as JSON; `nil` where there was no record, or nothing keeps the
  /// value.
  ///
  /// A missing value is `.null`. Dates are ISO 8601 text, data is Base64.
  public var old: JSONValue? { oldValue.map(Self.json) }
  /// The value in the newer store; see ``old``.
  public var new: JSONValue? { newValue.map(Self.json) }

  private static func json(_ value: Value) -> JSONValue {
    switch value {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .date, .uuid, .decimal: .string(KeyText.text(of: value))
    case .data(let bytes): .string(Data(bytes).base64EncodedString())
    case .document(let bytes): bytes._withBytes { (try? JSONValue(anyDocument: $0)) ?? .null }
    }
  }
}

/// A link of a relationship that no attribute holds, or the place of a link in an order.
public struct LinkDifference: Sendable, Hashable {
  /// The entity that the relationship is seen from.
  public let entity: String
  /// The name of the relationship in that entity; empty where it has none.
  public let relationship: String
  /// The entity that the relationship leads to.
  public let target: String
  /// Whether the newer store alone has the link, the older one alone, or each at another place of
  /// an order.
  ///
  /// Of links that both stores have, as few as possible are reported as moved.
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
  /// The bytes in the older store; `nil` where the key is not there.
  public let old: Data?
  /// The bytes in the newer store; `nil` where the key is not there.
  public let new: Data?
}
