internal import LodestoreFormat

/// The rule by which the store computes an attribute that programs can read and not set.
///
///     @Entity struct Group {
///       var name: String
///       static let members = ToMany<Group, Person>()
///       @Derived(.canonical(\Group.name)) private(set) var sortName = ""
///       @Derived(.count(Group.members)) private(set) var memberCount = 0
///       @Derived(.maximum(Group.members, \.age)) private(set) var greatestAge: Int?
///     }
///
/// Without macros, the schema declares the attribute, and `encode(into:)` leaves it out:
///
///     .derived("memberCount", \.memberCount, .count(members))
///
/// A derivation from the record alone is computed when the record is written. A derivation from
/// related records is updated after the write's closure has ended, from the changes that the write
/// made, and committed with them. Within the closure it has the value from before the write.
///
/// Derived attributes can be indexed, compared and ordered like any other. A changed definition is
/// applied to all records when the store is opened.
public struct Derivation<E: Entity, Value: AttributeValue>: Sendable {
  let declaration: DerivationDeclaration

  private init(
    _ declare: @escaping @Sendable (_ attribute: String) throws(StoreError) -> DeclaredDerivation
  ) {
    declaration = DerivationDeclaration(declare)
  }

  /// Creates a derivation from the attribute at `path` of the same record.
  private init(_ kind: DerivationDescription.Kind, of path: any PartialKeyPath<E> & Sendable) {
    self.init { attribute throws(StoreError) in
      let source = try E.schema.source(at: path, of: attribute, in: E.schema.name)
      return DeclaredDerivation(kind, source: source)
    }
  }

  /// Creates a derivation from the member at `path` of the document `source`.
  init(derivingMember source: any PartialKeyPath<E> & Sendable, _ path: [String]) {
    self.init { attribute throws(StoreError) in
      let source = try E.schema.source(at: source, of: attribute, in: E.schema.name)
      guard !path.isEmpty, path.count <= DerivationDescription.longestPath else {
        throw .badSchema(
          entity: E.schema.name, attribute: attribute,
          "'\(attribute)' is a member at a path of \(path.count) names; it needs 1 to "
            + "\(DerivationDescription.longestPath)")
      }
      var derivation = DeclaredDerivation(.member, source: source)
      derivation.path = path
      return derivation
    }
  }

  /// Creates a derivation of a part of the date `source`.
  init(
    deriving part: CalendarPart?, of source: any PartialKeyPath<E> & Sendable, in zone: DateZone
  ) {
    self.init { attribute throws(StoreError) in
      let source = try E.schema.source(at: source, of: attribute, in: E.schema.name)
      guard let part else { throw .badSource(attribute, of: E.schema.name, in: E.schema.name) }
      guard let offset = ZoneRules.offset(zone.name) else {
        throw .badSchema(
          entity: E.schema.name, attribute: attribute,
          "'\(attribute)' is a part of a date in the time zone '\(zone)', whose rules differ between "
            + "machines and times; give UTC or a fixed offset")
      }
      var derivation = DeclaredDerivation(.datePart, source: source)
      derivation.part = DerivedDatePart(part, offset: offset)
      return derivation
    }
  }

  /// Creates a derivation from the related records, or from their attribute at `path`.
  private init<Target: Entity>(
    _ kind: DerivationDescription.Kind, _ relationship: ToMany<E, Target>,
    _ path: (any PartialKeyPath<Target> & Sendable)? = nil
  ) {
    self.init { attribute throws(StoreError) in
      let schema = Target.schema
      guard let name = relationship.name else {
        throw .badSchema(
          entity: E.schema.name, attribute: attribute,
          "'\(attribute)' is derived from a relationship that is not among those of \(E.schema.name)"
        )
      }
      var derivation = DeclaredDerivation(kind, relationship: name, target: schema.name)
      if let path {
        derivation.source = try schema.source(at: path, of: attribute, in: E.schema.name)
      }
      return derivation
    }
  }
}

// MARK: Derivations from the record

extension Derivation where Value == String {
  /// The text without differences of case and diacritics, for search and order: "Éa" becomes "ea".
  ///
  /// The mapping uses tables of Unicode 17.0, which do not change with the system.
  public static func canonical(_ source: any KeyPath<E, String> & Sendable) -> Derivation {
    Derivation(.canonical, of: source)
  }

  /// The text in upper case, by the tables of Unicode 17.0.
  public static func uppercase(_ source: any KeyPath<E, String> & Sendable) -> Derivation {
    Derivation(.uppercase, of: source)
  }

  /// The text in lower case, by the tables of Unicode 17.0.
  public static func lowercase(_ source: any KeyPath<E, String> & Sendable) -> Derivation {
    Derivation(.lowercase, of: source)
  }
}

extension Derivation where Value == String? {
  /// The text without differences of case and diacritics; null when the text is null.
  public static func canonical(_ source: any KeyPath<E, String?> & Sendable) -> Derivation {
    Derivation(.canonical, of: source)
  }

  /// The text in upper case; null when the text is null.
  public static func uppercase(_ source: any KeyPath<E, String?> & Sendable) -> Derivation {
    Derivation(.uppercase, of: source)
  }

  /// The text in lower case; null when the text is null.
  public static func lowercase(_ source: any KeyPath<E, String?> & Sendable) -> Derivation {
    Derivation(.lowercase, of: source)
  }
}

extension Derivation {
  /// The result of calling `function` with the record.
  ///
  /// The function is called when the record is written, with a record that has no id. In this
  /// record, attributes derived from related records have the values of a record without related
  /// records, such as a count of 0. The result must depend on the record only. Programs that open
  /// the store without this definition, including `kvdump`, can read and delete the records, and
  /// cannot insert or update them.
  ///
  /// - Parameter version: 1 or more. Raise it when the function changes, so that the next opening
  ///   of the store recomputes all values.
  public static func function(
    version: UInt32, _ function: @escaping @Sendable (E) -> Value
  ) -> Derivation {
    Derivation { attribute throws(StoreError) in
      guard version >= 1 else {
        throw .badSchema(
          entity: E.schema.name, attribute: attribute,
          "the function of '\(attribute)' has the version 0; versions begin at 1")
      }
      var derivation = DeclaredDerivation(.function)
      derivation.version = version
      derivation.function = { view, entity throws(StoreError) in
        var reader = RecordReader(view, entity: entity, recordID: 0)
        return function(try E.read(from: &reader))._storedValue.value
      }
      return derivation
    }
  }

  /// The derivation from only those related records that match a condition, if `format` gives one.
  fileprivate func restricted(byFormat format: String?) -> Derivation {
    guard let format else { return self }
    return restricted(to: { () throws(StoreError) in format })
  }

  /// The derivation from only those related records that match a condition.
  func restricted(to condition: @escaping StoredCondition) -> Derivation {
    let declare = declaration.declare
    return Derivation { attribute throws(StoreError) in
      var derivation = try declare(attribute)
      derivation.condition = try condition()
      return derivation
    }
  }

  /// Creates a derivation that needs no source.
  init(plain kind: DerivationDescription.Kind) {
    self.init { _ throws(StoreError) in DeclaredDerivation(kind) }
  }
}

// MARK: Derivations from related records

extension Derivation where Value == Int {
  /// The number of records that the relationship leads to.
  ///
  ///     @Derived(.count(Member.loans, where: "returnedOn == NULL")) private(set) var openLoans = 0
  ///
  /// - Parameter format: a condition on the related record's own attributes, as a predicate format
  ///   string without arguments and without `now()`. `nil` counts all records. A schema without
  ///   macros can pass a closure instead. The arguments of a macro cannot, because they do not see
  ///   the members that `@Entity` generates.
  public static func count<Target: Entity>(
    _ relationship: ToMany<E, Target>, where format: String? = nil
  ) -> Derivation {
    Derivation(.count, relationship).restricted(byFormat: format)
  }
}

extension Derivation where Value: Numeric {
  /// The sum of an attribute of the related records; 0 without related records.
  ///
  /// A write that would make an integer sum overflow its type is refused with
  /// ``StoreError/Code/unstorableValue``. A sum of floating point numbers is updated by
  /// differences, so its last digits may differ from a newly calculated sum.
  public static func sum<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, Value> & Sendable,
    where format: String? = nil
  ) -> Derivation {
    Derivation(.sum, relationship, source).restricted(byFormat: format)
  }

  /// The sum of an optional attribute of the related records; null adds nothing.
  public static func sum<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, Value?> & Sendable,
    where format: String? = nil
  ) -> Derivation {
    Derivation(.sum, relationship, source).restricted(byFormat: format)
  }
}

extension Derivation where Value == Double? {
  /// The average of a number of the related records; null without related records.
  public static func average<Target: Entity, V: AttributeValue & Numeric>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    where format: String? = nil
  ) -> Derivation {
    Derivation(.average, relationship, source).restricted(byFormat: format)
  }

  /// The average of an optional number of the related records; records with null are not counted.
  public static func average<Target: Entity, V: AttributeValue & Numeric>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    where format: String? = nil
  ) -> Derivation {
    Derivation(.average, relationship, source).restricted(byFormat: format)
  }
}

extension Derivation {
  /// The least value of an attribute of the related records; null without related records.
  public static func minimum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    where format: String? = nil
  ) -> Derivation where Value == V? {
    Derivation(.minimum, relationship, source).restricted(byFormat: format)
  }

  /// The least value of an optional attribute of the related records, without nulls.
  public static func minimum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    where format: String? = nil
  ) -> Derivation where Value == V? {
    Derivation(.minimum, relationship, source).restricted(byFormat: format)
  }

  /// The greatest value of an attribute of the related records; null without related records.
  public static func maximum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    where format: String? = nil
  ) -> Derivation where Value == V? {
    Derivation(.maximum, relationship, source).restricted(byFormat: format)
  }

  /// The greatest value of an optional attribute of the related records, without nulls.
  public static func maximum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    where format: String? = nil
  ) -> Derivation where Value == V? {
    Derivation(.maximum, relationship, source).restricted(byFormat: format)
  }

  /// An attribute of the record to which the attribute at `link` leads; null without such a record.
  public static func copy<Target: Entity, V: AttributeValue>(
    _ link: any KeyPath<E, RecordID<Target>?> & Sendable,
    _ source: any KeyPath<Target, V> & Sendable
  ) -> Derivation where Value == V? {
    Derivation(copying: source, over: link)
  }

  /// An optional attribute of the record to which the attribute at `link` leads.
  public static func copy<Target: Entity, V: AttributeValue>(
    _ link: any KeyPath<E, RecordID<Target>?> & Sendable,
    _ source: any KeyPath<Target, V?> & Sendable
  ) -> Derivation where Value == V? {
    Derivation(copying: source, over: link)
  }

  /// An attribute of the record to which the required attribute at `link` leads.
  ///
  /// The derived attribute is optional, because the record may be inserted later in the write.
  public static func copy<Target: Entity, V: AttributeValue>(
    _ link: any KeyPath<E, RecordID<Target>> & Sendable, _ source: any KeyPath<Target, V> & Sendable
  ) -> Derivation where Value == V? {
    Derivation(copying: source, over: link)
  }

  /// An optional attribute of the record to which the required attribute at `link` leads.
  public static func copy<Target: Entity, V: AttributeValue>(
    _ link: any KeyPath<E, RecordID<Target>> & Sendable,
    _ source: any KeyPath<Target, V?> & Sendable
  ) -> Derivation where Value == V? {
    Derivation(copying: source, over: link)
  }

  private init<Target: Entity>(
    copying source: any PartialKeyPath<Target> & Sendable,
    over link: any PartialKeyPath<E> & Sendable
  ) {
    self.init { attribute throws(StoreError) in
      guard let link = E.schema.index(of: link), E.schema.attributes[link].toOne != nil else {
        throw .badSchema(
          entity: E.schema.name, attribute: attribute,
          "'\(attribute)' is a copy over an attribute that is no relationship; declare that one with "
            + "'toOne', or @Relationship")
      }
      return DeclaredDerivation(
        .copy, source: try Target.schema.source(at: source, of: attribute, in: E.schema.name),
        relationship: E.schema.attributes[link].name, target: Target.schema.name)
    }
  }
}

// MARK: Declaring

/// Creates the derivation of an attribute on demand.
///
/// The schemas of the entities that it names may not exist yet when the attribute is declared.
final class DerivationDeclaration: Sendable {
  let declare: @Sendable (_ attribute: String) throws(StoreError) -> DeclaredDerivation

  init(
    _ declare: @escaping @Sendable (_ attribute: String) throws(StoreError) -> DeclaredDerivation
  ) {
    self.declare = declare
  }
}

/// A derivation as declared by a program, without Swift types.
struct DeclaredDerivation: Sendable {
  var kind: DerivationDescription.Kind
  /// The name of the source attribute.
  var source: String?
  /// The name of the relationship, or of the attribute that holds it.
  var relationship: String?
  /// The entity that the relationship leads to.
  var target: String?
  var version: UInt32?
  /// The path into the source document.
  var path: [String]?
  /// The part of the source date.
  var part: DerivedDatePart?
  /// The condition that selects the related records, as a format string.
  var condition: String?
  var function: RecordDerivations.Function?

  init(
    _ kind: DerivationDescription.Kind, source: String? = nil, relationship: String? = nil,
    target: String? = nil
  ) {
    self.kind = kind
    self.source = source
    self.relationship = relationship
    self.target = target
  }
}

extension AttributeDefinition {
  /// Declares an attribute that the store derives; `@Derived` generates this call.
  ///
  /// `encode(into:)` leaves the attribute out; `init(from:)` reads it in the order of the
  /// attributes. In the struct of attributes, give it a setter without effect, so that the compiler
  /// refuses an assignment in an update. Without the setter, such an update throws
  /// ``StoreError/Code/invalidQuery``.
  public static func derived<V: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, _ derivation: Derivation<E, V>,
    originalName: String? = nil
  ) -> AttributeDefinition {
    let storage = V._storage
    return AttributeDefinition(
      name: name, keyPath: keyPath, originalName: originalName, storage: storage,
      initial: StoredValue(.initialOfDerived(storage)),
      constraints: [], derivation: derivation.declaration)
  }
}

extension EntitySchema {
  /// The name of the attribute at `path`, from which `attribute` of `entity` is derived.
  fileprivate func source(
    at path: any PartialKeyPath<E> & Sendable, of attribute: String, in entity: String
  ) throws(StoreError) -> String {
    guard let index = index(of: path) else { throw .badSource(attribute, of: entity, in: name) }
    return attributes[index].name
  }
}

extension StoreError {
  fileprivate static func badSource(
    _ attribute: String, of entity: String, in owner: String
  ) -> StoreError {
    .badSchema(
      entity: entity, attribute: attribute,
      "'\(attribute)' is derived from a property that is no attribute of \(owner)")
  }
}

extension Value {
  /// The value of a derived attribute in records written before it was added, until the opening has
  /// computed the real value.
  ///
  /// For a document the value is not null, because older programs take a null document for a
  /// missing initial value.
  fileprivate static func initialOfDerived(_ storage: AttributeStorage) -> Value {
    if storage.isOptional { return .null }
    let value = placeholder(of: storage.type)
    return value == .nullDocument ? .document(Document.bool(false).encoded()) : value
  }
}
