#if Macros
  /// Makes a struct an entity: adds a typed `id`, a schema, and code to read and write records.
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
  /// Every stored property is an attribute, in the order of the declaration. Its type must be
  /// written. Static and computed properties, and properties with ``Transient()``, are not
  /// attributes.
  ///
  /// The types are those of `AttributeValue`, enumerations with a raw value, and `Codable` types of
  /// the program, which are stored as documents. Optionals, arrays, and dictionaries with `String`
  /// keys of these are allowed too. A set is refused: its order differs between processes, so an
  /// unchanged record could not be recognized. The macro does not detect a set within a `Codable`
  /// struct.
  ///
  /// A default value has two uses. The memberwise initializer uses it as usual. The default value
  /// is also the initial value. Older records have the initial value, and imports and dictionaries
  /// use it for attributes that they omit. The file stores the initial value, so it must be equal
  /// in every process. It may be a literal, a static member (`.active`, `Settings.standard`), a
  /// call with such arguments (`Decimal(5)`), or a collection of these.
  ///
  /// `Date()`, `UUID()`, `.now` and every other call without arguments, operators and closures
  /// serve only inserts: each insert gets its own value. To add such an attribute to an entity that
  /// has records, also give an initial value:
  /// `@Attribute(initial: Date.distantPast) var createdAt: Date = .now`. An optional attribute is
  /// null in older records.
  ///
  /// A struct inside another type can name declarations of that type as usual in the types of its
  /// properties. Constraints, derivations, and default values of another type than the property's
  /// must name such declarations in full.
  ///
  /// `id` is a property like the others: it takes part in `Equatable`, `Hashable` and `Codable` if
  /// the struct conforms to them. The id is the last parameter of the memberwise initializer, which
  /// the macro preserves.
  ///
  /// Removing a property from the struct does not delete its values. The attribute stays in the
  /// file, updates preserve its values, and new records get its initial value or null. Inserting a
  /// new record fails if the attribute is required and has no initial value. To delete the values,
  /// name the attribute: `@Entity(removed: "stars")`.
  ///
  /// - Parameters:
  ///   - name: The entity's name in the file, a literal; by default the struct's name. An ASCII
  ///     letter or `_`, then letters, digits and `_`, at most 64 bytes.
  ///   - removed: Names of attributes to delete with their values from files that have them;
  ///     literals. They can stay in the declaration forever.
  @attached(member, names: named(id), named(ID), named(_AttributeTypes))
  @attached(
    extension, conformances: Entity, names: named(schema), named(init(from:)), named(read(from:)),
    named(encode(into:)), named(Attributes), named(attributes), named(key))
  public macro Entity(name: String? = nil, removed: String...) =
    #externalMacro(module: "EntityMacros", type: "EntityMacro")

  /// Describes how a property of an ``Entity(name:removed:)`` is stored.
  ///
  ///     @Attribute(.unique) var slug: String
  ///     @Attribute(.unique, originalName: "mail") var email: String
  ///     @Attribute(name: "id") var identifier: String
  ///     @Attribute(constraints: [.range(0...5)]) var stars: Int = 0
  ///     @Attribute(initial: Date.distantPast) var createdAt: Date = .now
  ///
  /// - Parameters:
  ///   - options: Options of the attribute, written out as members.
  ///   - name: The attribute's name in the file, a literal; by default the property's name. Format
  ///     strings use this name. A file can hold the names `id`, `schema` and `attributes`, which a
  ///     property cannot have.
  ///   - originalName: The name under which older versions of the program stored the attribute, a
  ///     literal.
  ///   - constraints: Conditions on the values, checked before a record is written. The expression
  ///     is copied into the schema, so names in it must have the same meaning there.
  ///   - initial: The value of records older than the attribute, if it is not the default value or
  ///     if the default value differs between inserts. It must be of the property's type and equal
  ///     in every process: a literal, a static member with its type (`Date.distantPast`), or a call
  ///     with such arguments. Relationships and derived attributes cannot have an initial value.
  @attached(peer)
  public macro Attribute(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil,
    constraints: [AttributeConstraint] = [], initial: Any? = nil
  ) =
    #externalMacro(module: "EntityMacros", type: "AttributeMacro")

  /// Makes a property that holds the id of another record a relationship to that record.
  ///
  ///     @Relationship var person: Person.ID?
  ///     @Relationship(onDelete: .cascade) var picture: Picture.ID?
  ///
  /// The relationship has a separate index, so that a `ToMany` can be its inverse. That record must
  /// exist when a write ends.
  ///
  /// The inverse determines what happens when the other record is deleted. Without an inverse, an
  /// optional property becomes `nil`, and a required one prevents the deletion.
  ///
  /// - Parameter onDelete: The effect on the other record when this one is deleted.
  @attached(peer)
  public macro Relationship(onDelete: RelationshipDeleteRule = .nullify) =
    #externalMacro(module: "EntityMacros", type: "RelationshipMacro")

  /// Makes the store calculate the value of a property, which programs can read but not set.
  ///
  ///     @Derived(.count(Group.members)) private(set) var memberCount = 0
  ///     @Derived(.canonical(\Pod.name)) private(set) var sortName = ""
  ///
  /// `Derivation` lists the sources of derived values, and when they are updated. A struct that was
  /// not read from the store has the default value.
  ///
  /// - Parameter derivation: The calculation of the value. The expression is copied into the
  ///   schema, so names in it must have the same meaning there.
  @attached(peer)
  public macro Derived<E: Entity, Value: AttributeValue>(_ derivation: Derivation<E, Value>) =
    #externalMacro(module: "EntityMacros", type: "DerivedMacro")

  /// Makes the store set a property to the time of the record's insertion, or of its last change.
  ///
  ///     @Derived(.insertedAt) private(set) var insertedAt = Date.distantPast
  @attached(peer)
  public macro Derived(_ time: DerivedTime) =
    #externalMacro(module: "EntityMacros", type: "DerivedMacro")

  /// A time that the store records; see `Derivation`.
  public struct DerivedTime: Sendable, Hashable {
    private let name: String

    /// The time of the write that inserted the record.
    ///
    /// Replacing the record does not change this time.
    public static let insertedAt = DerivedTime(name: "insertedAt")
    /// The time of the last write that changed one of the record's own attributes.
    public static let changedAt = DerivedTime(name: "changedAt")
  }

  /// Leaves a property of an ``Entity(name:removed:)`` out of the store.
  ///
  /// When a record is read, the property gets its default value, so it needs one. An optional `var`
  /// gets `nil`.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "EntityMacros", type: "TransientMacro")

  /// Declares indexes of the enclosing ``Entity(name:removed:)``, each over the attributes of one
  /// list in the order of the list.
  ///
  ///     #Index<Pod>([\.updatedAt], [\.stars, \.name])
  @freestanding(declaration)
  public macro Index<E>(_ indexes: [PartialKeyPath<E>]...) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares unique indexes of the enclosing ``Entity(name:removed:)``.
  ///
  /// No two records may have equal values in all attributes of one list. Any number of records may
  /// have null in an attribute of the list.
  ///
  ///     #Unique<Pod>([\.name, \.version])
  @freestanding(declaration)
  public macro Unique<E>(_ indexes: [PartialKeyPath<E>]...) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares a search index of the enclosing ``Entity(name:removed:)`` on the words of texts.
  ///
  ///     #Search<Pod>([\.name, \.summary])
  ///
  /// An attribute is a text, an array or JSON. For texts at a path in JSON, declare a static property
  /// `searchIndexes` of the type `SearchIndex`.
  @freestanding(declaration)
  public macro Search<E>(_ attributes: [PartialKeyPath<E>]) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares a search index on the words of texts with weights from 1 to 100.
  ///
  ///     #Search<Pod>([\.name: 3, \.summary: 1])
  ///
  /// In scores, a word in a text of weight 3 counts as three words.
  @freestanding(declaration)
  public macro Search<E>(_ attributes: KeyValuePairs<PartialKeyPath<E>, Int>) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares a place index of the enclosing ``Entity(name:removed:)`` on a latitude and a
  /// longitude.
  ///
  ///     #Place<Fireball>([\.latitude, \.longitude])
  ///
  /// An attribute is a number of degrees, and may be optional. For numbers at a path
  /// in JSON, declare a static property `placeIndexes` of the type `PlaceIndex`.
  ///
  /// - Parameter invalid: the treatment of records with other values.
  @freestanding(declaration)
  public macro Place<E>(_ attributes: [PartialKeyPath<E>], invalid: InvalidPlaces = .refused) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Declares a vector index of the enclosing ``Entity(name:removed:)``.
  ///
  ///     #Vector<Note>(\.embedding, dimensions: 384)
  ///
  /// The attribute is a `Vector` or `Data`, and may be optional.
  ///
  /// - Parameter dimensions: the number of numbers of each vector, from 1 to 8,192.
  @freestanding(declaration)
  public macro Vector<E>(_ attribute: PartialKeyPath<E>, dimensions: Int) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Makes each record of the enclosing ``Entity(name:removed:)`` expire at a date that the record
  /// holds.
  ///
  ///     #Expires<Offer>([\.validUntil])
  ///
  /// A read at that date or later does not return the record, and the store removes it later.
  ///
  /// The attribute is a `Date` or a `Date?`; a record with `nil` never expires. The declaration
  /// gives the attribute a separate index. An entity may have at most one such declaration.
  ///
  /// - Parameter attribute: A list of one key path.
  @freestanding(declaration)
  public macro Expires<E>(_ attribute: [PartialKeyPath<E>]) =
    #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// Limits the number or size of the records of the enclosing ``Entity(name:removed:)``.
  ///
  ///     #Limit<Offer>(count: 10_000)
  ///     #Limit<Offer>(count: 10_000, bytes: 64 * 1024 * 1024, by: [\.fetchedAt])
  ///
  /// Beyond the limit the oldest records are removed. An insert above the limit does not fail: a
  /// later write or the store's own thread removes records. An entity may have at most one limit.
  ///
  /// - Parameters:
  ///   - count: The maximum number of records.
  ///   - bytes: The maximum total length of the records as stored.
  ///   - attribute: A list of one key path. The oldest record is the one with the least value, and
  /// `nil` comes first. The declaration gives the attribute a separate index. Without it,
  ///     the record that was inserted first is the oldest.
  @freestanding(declaration)
  public macro Limit<E>(
    count: Int? = nil, bytes: Int? = nil, by attribute: [PartialKeyPath<E>] = []
  ) = #externalMacro(module: "EntityMacros", type: "IndexMacro")

  /// An option of ``Attribute(_:name:originalName:constraints:initial:)``.
  public struct AttributeOption: Sendable, Hashable {
    private let name: String

    /// No two records may have equal values.
    ///
    /// Any number of records may have null.
    public static let unique = AttributeOption(name: "unique")
  }
#endif
