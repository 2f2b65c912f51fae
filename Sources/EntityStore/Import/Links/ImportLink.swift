internal import LodestoreFormat

/// How a member of imported records leads to records of another entity, which it names by a unique key.
///
///     importer.links = [
///       .init("characters", Film.characters, by: \.url),  // keys, in an array or an object
///       .init("homeworld", \.homeworld, by: \.url),       // one key
///     ]
///
/// A member names all links of its record: links that it no longer names are removed. Null removes
/// all of them. A record that lacks the member keeps its links, with every ``MergePolicy``. The
/// policy decides about a link to one record as about other attributes.
///
/// Keys are looked up when the page is written, in one pass over the index. A key may name a record
/// of the same page. A key without a record is looked up again at the end of the import, and then
/// reported (``ImportReport/links``), unless the record is made: see ``makesMissing``.
///
/// Where both sides are imported, each with its links, the order of the two imports does not matter.
public struct ImportLink<E: Entity>: Sendable {
  /// Whether a record that is not there is made, with its key and otherwise the values that new
  /// attributes have; one that needs others is reported.
  ///
  /// When a later record of the import has that key, it takes the place of the made one whatever
  /// the merge policy says.
  public var makesMissing = false

  let member: String
  let target: @Sendable () -> String
  /// The attribute of the target that holds the key.
  let key: String
  /// The attribute that holds the id, or the relationship's name; `nil` for one that is not declared.
  let name: String?
  let isToOne: Bool

  /// Declares that `member` names the records that `relationship` leads to, by the values of their
  /// attribute `key`, which has a unique index.
  public init<Target: Entity, Value>(
    _ member: String, _ relationship: ToMany<E, Target>,
    by key: KeyPath<Target.Attributes, Attribute<Target, Value>>, makesMissing: Bool = false
  ) {
    self.member = member
    self.makesMissing = makesMissing
    target = { Target.schema.name }
    self.key = Target.attributes[keyPath: key].attributeName
    name = relationship.name
    isToOne = false
  }

  /// Declares that `member` names the record whose id the optional attribute at `path` holds.
  public init<Target: Entity, Value>(
    _ member: String, _ path: KeyPath<E.Attributes, Attribute<E, RecordID<Target>?>>,
    by key: KeyPath<Target.Attributes, Attribute<Target, Value>>, makesMissing: Bool = false
  ) {
    self.member = member
    self.makesMissing = makesMissing
    target = { Target.schema.name }
    self.key = Target.attributes[keyPath: key].attributeName
    name = E.attributes[keyPath: path].attributeName
    isToOne = true
  }

  var imported: ImportedLink {
    ImportedLink(
      member: member, target: target(), key: key, name: name ?? "", isToOne: isToOne,
      makesMissing: makesMissing)
  }
}

/// A link without Swift types.
struct ImportedLink: Sendable, Hashable {
  let member: String
  let target: String
  let key: String
  let name: String
  let isToOne: Bool
  let makesMissing: Bool
}

extension ImportReport {
  /// The outcome of links to other records.
  public struct Links: Sendable, Codable, Hashable {
    /// Links that are new; one of an attribute also where it leads to another record than before.
    public var added = 0
    /// Links that were removed, as the record's page no longer has them.
    public var removed = 0
    /// Records that were made to be led to.
    public var made = 0
    /// Keys that lead to no record.
    public var unresolved = 0
    /// The first of them.
    public var unresolvedKeys: [UnresolvedKey] = []

    /// The most keys that a report keeps.
    static let longestList = 10_000
    /// The most that the report in the store keeps.
    static let longestStoredList = 100

    mutating func note(_ key: UnresolvedKey) {
      unresolved += 1
      if unresolvedKeys.count < Self.longestList { unresolvedKeys.append(key) }
    }
  }

  /// A key that leads to no record.
  public struct UnresolvedKey: Sendable, Codable, Hashable {
    /// The number of the page, from 1.
    public var page: Int
    /// The number of the record in its page, from 1.
    public var record: Int
    /// The member that has the key.
    public var member: String
    /// The key as text.
    public var key: String
  }
}
