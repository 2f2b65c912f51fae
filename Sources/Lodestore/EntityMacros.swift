#if Macros
  /// Makes a struct an entity: gives it a typed `id`, a schema, and code to read and write records.
  ///
  ///     @Entity
  ///     struct Pod {
  ///       #Unique<Pod>([\.name, \.version])
  ///       #Index<Pod>([\.updatedAt])
  ///
  ///       var name: String
  ///       var version: String
  ///       var homepage: String?
  ///       var license: String = "MIT"
  ///       @Attribute(originalName: "stars") var likes: Int = 0
  ///       var updatedAt: Date
  ///       @Transient var isSelected = false
  ///     }
  ///
  /// Every stored property is an attribute, in the order of the declaration; its type must be
  /// written. Static and computed properties are left out, and so is what has ``Transient()``.
  /// Types are those of `AttributeValue`, enumerations with a raw value, and `Codable` types of the
  /// program (kept as documents); optionals, arrays and dictionaries with `String` keys of these. A
  /// set is refused because its order differs from process to process, and an unchanged record
  /// could not be recognized. Such a set within a `Codable` struct is not seen by the macro.
  ///
  /// A default value serves twice. The memberwise initializer uses it as always. It is also the
  /// initial value, which older records have, and which imports and dictionaries take for an
  /// attribute that they leave out. The file keeps the initial value, so it must be the same in
  /// every process: a literal, a static member (`.active`, `Settings.standard`), a call with such
  /// arguments (`Decimal(5)`), or a collection of them.
  ///
  /// `Date()`, `UUID()`, `.now` and every other call without arguments, operators and closures
  /// serve inserts alone: each insert has its own value. To add such an attribute to an entity that
  /// has records, give these a value: `@Attribute(initial: Date.distantPast) var createdAt: Date =
  /// .now`. An optional attribute is null in them.
  ///
  /// A struct inside another type names what is declared there beside it as everywhere. In
  /// constraints, derivations and default values that are no value of the property's own type, it
  /// is named in full.
  ///
  /// `id` is a property like others: it takes part in `Equatable`, `Hashable` and `Codable` where
  /// the struct has them, and comes last in the memberwise initializer, which stays.
  ///
  /// A property that is gone from the struct does not take its values with it: the attribute stays
  /// in the file, its values go along with every update, and new records have its initial value, or
  /// null. The insert of a new record is refused while the attribute is required and has no initial
  /// value. What is no longer wanted is named: `@Entity(removed: "stars")`.
  ///
  /// - Parameters:
  ///   - name: The entity's name in the file, a literal; the struct's own when left out. An ASCII letter
  ///     or `_`, then letters, digits and `_`, at most 64 bytes.
  ///   - removed: Names of attributes that are to go, with their values, from a file that has them;
  ///     literals. They can stay here for ever.
  @attached(member, names: named(id), named(ID), named(_AttributeTypes))
  @attached(
    extension, conformances: Entity, names: named(schema), named(init(from:)), named(read(from:)),
    named(encode(into:)), named(Attributes), named(attributes), named(key))
  public macro Entity(name: String? = nil, removed: String...) =
    #externalMacro(module: "EntityMacros", type: "EntityMacro")

  /// Says more about how a property of an ``Entity(name:removed:)`` is stored.
  ///
  ///     @Attribute(.unique) var slug: String
  ///     @Attribute(.unique, originalName: "mail") var email: String
  ///     @Attribute(constraints: [.range(0...5)]) var stars: Int = 0
  ///     @Attribute(initial: Date.distantPast) var createdAt: Date = .now
  ///
  /// - Parameters:
  ///   - options: What the attribute is besides, written out as members.
  ///   - originalName: The name under which older versions of the program stored it, a literal.
  ///   - constraints: What values must be beyond having the type, checked before a record is
  ///     written. The expression is written once more in the schema, where other names are in scope.
  ///   - initial: The value of records that are older than the attribute, where the default value is not to
  ///     be theirs or differs from insert to insert. A value of the property's type that is the same in every
  ///     process: a literal, a static member with its type (`Date.distantPast`), or a call with such
  ///     arguments. Not for relationships and derived attributes.
  @attached(peer)
  public macro Attribute(
    _ options: AttributeOption..., originalName: String? = nil,
    constraints: [AttributeConstraint] = [], initial: Any? = nil
  ) =
    #externalMacro(module: "EntityMacros", type: "AttributeMacro")

  /// Makes a property that holds the id of another record a relationship to that record.
  ///
  ///     @Relationship var person: Person.ID?
  ///     @Relationship(onDelete: .cascade) var picture: Picture.ID?
  ///
  /// It has an index of its own, so that a `ToMany` can be its inverse, and the record must be
  /// there when a write ends. What happens when that record is deleted the inverse says; without
  /// one the property becomes nil, and a required one keeps the record from being deleted.
  ///
  /// - Parameter onDelete: What happens to that record when this one is deleted.
  @attached(peer)
  public macro Relationship(onDelete: RelationshipDeleteRule = .nullify) =
    #externalMacro(module: "EntityMacros", type: "RelationshipMacro")

  /// Has the store keep the value of a property, which programs can read and not set.
  ///
  ///     @Derived(.count(Group.members)) private(set) var memberCount = 0
  ///     @Derived(.canonical(\Pod.name)) private(set) var sortName = ""
  ///
  /// What values can be derived from, and when, is said at `Derivation`. The default value is that
  /// of a struct which was not read from the store.
  ///
  /// - Parameter derivation: How the value is worked out. The expression is written once more in
  ///   the schema, where other names are in scope.
  @attached(peer)
  public macro Derived<E: Entity, Value: AttributeValue>(_ derivation: Derivation<E, Value>) =
    #externalMacro(module: "EntityMacros", type: "DerivedMacro")

  /// Has the store keep the time of the record's insertion, or of its last change, in a property.
  ///
  ///     @Derived(.insertedAt) private(set) var insertedAt = Date.distantPast
  @attached(peer)
  public macro Derived(_ time: DerivedTime) =
    #externalMacro(module: "EntityMacros", type: "DerivedMacro")

  /// A time that the store keeps; see `Derivation`.
  public struct DerivedTime: Sendable, Hashable {
    private let name: String

    /// The time of the write that inserted the record; it stays when the record is replaced.
    public static let insertedAt = DerivedTime(name: "insertedAt")
    /// The time of the last write that gave one of the record's own attributes another value.
    public static let changedAt = DerivedTime(name: "changedAt")
  }

  /// Leaves a property of an ``Entity(name:removed:)`` out of the store.
  ///
  /// It has its default value when a record is read, so it needs one; an optional `var` has `nil`.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "EntityMacros", type: "TransientMacro")

  /// Declares indexes of the ``Entity(name:removed:)`` in which it stands, each over the attributes
  /// of one list, in the order of the list.
  ///
  ///     #Index<Pod>([\.updatedAt], [\.stars, \.name])
  @freestanding(declaration)
  public macro Index<E>(_ indexes: [PartialKeyPath<E>]...) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares unique indexes of the ``Entity(name:removed:)`` in which it stands: no two records
  /// have the same values in all attributes of one list. Nulls do not collide.
  ///
  ///     #Unique<Pod>([\.name, \.version])
  @freestanding(declaration)
  public macro Unique<E>(_ indexes: [PartialKeyPath<E>]...) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Ends the life of each record of the ``Entity(name:removed:)`` in which it stands at a date
  /// that the record holds: from then on the record is in no read, and is removed in time.
  ///
  ///     #Expires<Offer>([\.validUntil])
  ///
  /// The attribute is a `Date` or a `Date?`; a record with `nil` never expires. The declaration
  /// gives the attribute an index of its own. At most one stands in an entity.
  ///
  /// - Parameter attribute: a list of one key path.
  @freestanding(declaration)
  public macro Expires<E>(_ attribute: [PartialKeyPath<E>]) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Limits the records of the ``Entity(name:removed:)`` in which it stands: beyond the limit the
  /// oldest records are removed.
  ///
  ///     #Limit<Offer>(count: 10_000)
  ///     #Limit<Offer>(count: 10_000, bytes: 64 * 1024 * 1024, by: [\.fetchedAt])
  ///
  /// An insert above the limit does not fail: a later write or the store's own thread removes
  /// records. At most one stands in an entity.
  ///
  /// - Parameters:
  ///   - count: the highest number of records.
  ///   - bytes: the highest sum of the lengths of the records as they are stored.
  ///   - attribute: a list of one key path: the oldest record is the one with the least value; `nil`
  ///     comes first. The declaration gives the attribute an index of its own. Without it the record
  ///     that was inserted first is the oldest.
  @freestanding(declaration)
  public macro Limit<E>(
    count: Int? = nil, bytes: Int? = nil, by attribute: [PartialKeyPath<E>] = []
  ) = #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// What ``Attribute(_:originalName:constraints:initial:)`` can say about an attribute.
  public struct AttributeOption: Sendable, Hashable {
    private let name: String

    /// No two records have the same value; null does not collide.
    public static let unique = AttributeOption(name: "unique")
  }
#endif
