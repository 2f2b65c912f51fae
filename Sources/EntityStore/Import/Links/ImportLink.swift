internal import LodestoreFormat

/// A member of imported records that names records of another entity by a unique key.
///
///     importer.links = [
///       .init("characters", Film.characters, by: \.url),  // keys, in an array or an object
///       .init("homeworld", \.homeworld, by: \.url),       // one key
///     ]
///
/// A member lists all links of its record; links that it no longer lists are removed. Null removes
/// all of the record's links of this kind. A record that lacks the member keeps its links, with
/// every ``MergePolicy``. For a link to one record, the policy applies as to other attributes.
///
/// Keys are looked up when the page is written, in one pass over the index. A key may name a record
/// of the same page. A key that no record has is looked up again at the end of the import, and
/// then reported (``ImportReport/links``). With ``makesMissing``, a record is created for the key
/// instead.
///
/// When both sides are imported with their links, the order of the two imports does not matter.
public struct ImportLink<E: Entity>: Sendable {
  /// Whether a missing record is created, with its key and otherwise the initial values of
  /// attributes.
  ///
  /// When the record needs other values too, the link is reported as unresolved. A later record of
  /// the import with this key replaces the created record, whatever the merge policy.
  public var makesMissing = false

  let member: String
  let target: @Sendable () -> String
  /// The attribute of the target that holds the key.
  let key: String
  /// The attribute that holds the id, or the relationship's name; `nil` when it is not declared.
  let name: String?
  let isToOne: Bool

  /// Declares that `member` names the targets of `relationship`.
  ///
  /// - Parameter key: the attribute of the target whose values the member contains; it has a unique
  ///   index.
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
  ///
  /// - Parameter key: the attribute of the target whose value the member contains; it has a unique
  ///   index.
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
    /// The number of new links; a changed link of an attribute counts too.
    public var added = 0
    /// The number of links that were removed because the record's page no longer contains them.
    public var removed = 0
    /// The number of records created as link targets.
    public var made = 0
    /// The number of keys that no record has.
    public var unresolved = 0
    /// The first keys that no record has.
    public var unresolvedKeys: [UnresolvedKey] = []

    /// The maximum number of keys that a report lists.
    static let longestList = 10_000
    /// The maximum number of keys that a report in the store lists.
    static let longestStoredList = 100

    mutating func note(_ key: UnresolvedKey) {
      unresolved += 1
      if unresolvedKeys.count < Self.longestList { unresolvedKeys.append(key) }
    }
  }

  /// A key of a link that no record has.
  public struct UnresolvedKey: Sendable, Codable, Hashable {
    /// The number of the page, counted from 1.
    public var page: Int
    /// The number of the record in its page, counted from 1.
    public var record: Int
    /// The member that contains the key.
    public var member: String
    /// The key as text.
    public var key: String
  }
}
