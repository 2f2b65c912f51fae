internal import LodestoreFormat

/// A relationship of a record of `E` to any number of records of `Target`.
///
/// Declare it as a static property of the entity. The value names the relationship and holds no
/// records. The links are stored in one of two ways. Either an attribute of the target holds an id,
/// or the relationship has link trees of its own. With link trees, both sides may have any number
/// of records (many-to-many):
///
///     @Entity struct Group {
///       var name: String
///       static let members = ToMany<Group, Person>()                           // many to many
///     }
///     @Entity struct Person {
///       var name: String
///       static let groups = ToMany<Person, Group>(inverse: Group.members)      // its other side
///       static let notes = ToMany<Person, Note>(inverse: \.person, onDelete: .cascade)
///     }
///     @Entity struct Note {
///       var text: String
///       @Relationship var person: Person.ID?                                   // to one
///     }
///
/// Without macros, list the relationships in the schema: `relationships: [.init("members",
/// members)]`. For conditions, name them in `Attributes`: `var members: ToMany<Group, Person> {
/// Group.members }`.
///
/// Read related records with ``ReadableTransaction/related(_:of:_:)->[Target]``. Change links with
/// `WriteTransaction.add(_:to:of:)` and similar methods. Open the store with both entities.
public struct ToMany<E: Entity, Target: Entity>: Sendable {
  /// The object that identifies the relationship; each declaration creates its own object.
  let declaration: RelationshipDeclaration

  /// Declares a relationship with link trees, which may have an inverse.
  ///
  /// - Parameters:
  ///   - ordered: whether the related records of one record have an order that the program sets;
  ///     see ``WriteTransaction/add(_:to:of:at:)``.
  ///   - onDelete: the effect on the related records when a record of `E` is deleted.
  public init(ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify) {
    self.init(ordered, onDelete, nil)
  }

  init(_ ordered: Bool, _ onDelete: RelationshipDeleteRule, _ denyCondition: StoredCondition?) {
    declaration = RelationshipDeclaration(to: Target.self, onDelete, denyCondition, ordered) { _ in
      .none
    }
  }

  /// Declares the inverse of a relationship with link trees.
  public init(
    inverse: ToMany<Target, E>, ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify
  ) {
    self.init(inverse, ordered, onDelete, nil)
  }

  init(
    _ inverse: ToMany<Target, E>, _ ordered: Bool, _ onDelete: RelationshipDeleteRule,
    _ denyCondition: StoredCondition?
  ) {
    let other = inverse.declaration
    declaration = RelationshipDeclaration(to: Target.self, onDelete, denyCondition, ordered) {
      name throws(StoreError) in
      guard let inverse = Target.schema.name(of: other) else {
        throw .badSchema(
          entity: E.schema.name, attribute: name,
          "the inverse of '\(name)' is not among the relationships of \(Target.schema.name)")
      }
      return .toMany(inverse)
    }
  }

  /// Declares the inverse of an optional attribute that holds the id of a record of `E`.
  public init(
    inverse: any KeyPath<Target, RecordID<E>?> & Sendable, ordered: Bool = false,
    onDelete: RelationshipDeleteRule = .nullify
  ) {
    self.init(of: inverse, ordered, onDelete, nil)
  }

  /// Declares the inverse of an attribute that holds the id of a record of `E`.
  ///
  /// ``RelationshipDeleteRule/nullify`` is refused, because the attribute cannot be null.
  public init(
    inverse: any KeyPath<Target, RecordID<E>> & Sendable, ordered: Bool = false,
    onDelete: RelationshipDeleteRule = .deny
  ) {
    self.init(of: inverse, ordered, onDelete, nil)
  }

  init(
    of path: any PartialKeyPath<Target> & Sendable, _ ordered: Bool,
    _ onDelete: RelationshipDeleteRule, _ denyCondition: StoredCondition?
  ) {
    declaration = RelationshipDeclaration(to: Target.self, onDelete, denyCondition, ordered) {
      name throws(StoreError) in
      let schema = Target.schema
      guard let index = schema.index(of: path) else {
        throw .badSchema(
          entity: E.schema.name, attribute: name,
          "the inverse of '\(name)' is no attribute of \(schema.name)")
      }
      return .attribute(schema.attributes[index].name)
    }
  }
}

/// The effect of deleting a record on the records to which its relationship leads.
///
/// A delete evaluates all rules before anything is written. ``deny`` takes precedence over a
/// ``cascade`` of another relationship to the denying record, because the state before the delete
/// counts, as with SQL's RESTRICT. Records named in one delete call do not deny each other's
/// deletion. Otherwise the rules are those of Core Data's `NSDeleteRule`.
public enum RelationshipDeleteRule: String, Sendable, CaseIterable {
  /// Related records stay; links are removed, and attributes that hold the deleted record's id
  /// become null.
  case nullify
  /// Related records are deleted too, following their own rules.
  case cascade
  /// The delete is refused with ``StoreError/Code/deleteDenied`` while there are related records.
  case deny
  /// The store does nothing, and the program must handle the links.
  ///
  /// A write that ends with an id of a missing record is refused.
  case noAction

  var stored: DeleteRule {
    switch self {
    case .nullify: .nullify
    case .cascade: .cascade
    case .deny: .deny
    case .noAction: .noAction
    }
  }
}

/// Returns a condition as a format string, or throws when the file cannot store the condition.
typealias StoredCondition = @Sendable () throws(StoreError) -> String

/// One declaration of a relationship; the schema finds its name by the object's identity.
final class RelationshipDeclaration: Sendable {
  let onDelete: RelationshipDeleteRule
  /// The condition on related records: while one of them satisfies it, the record cannot be
  /// deleted.
  let denyCondition: StoredCondition?
  let isOrdered: Bool
  /// The name of the relationship's target entity.
  let target: @Sendable () -> String
  /// The inverse; `name` is the relationship's own name, for error messages.
  let inverse: @Sendable (_ name: String) throws(StoreError) -> DeclaredInverse

  init<Target: Entity>(
    to _: Target.Type, _ onDelete: RelationshipDeleteRule, _ denyCondition: StoredCondition?,
    _ isOrdered: Bool,
    _ inverse: @escaping @Sendable (_ name: String) throws(StoreError) -> DeclaredInverse
  ) {
    self.onDelete = onDelete
    self.denyCondition = denyCondition
    self.isOrdered = isOrdered
    target = { Target.schema.name }
    self.inverse = inverse
  }
}

/// The inverse of a to-many relationship.
enum DeclaredInverse: Sendable, Hashable {
  case none
  /// An attribute of the target that holds an id.
  case attribute(String)
  /// A to-many relationship of the target.
  case toMany(String)
}

/// The name of a to-many relationship in the schema of `E`; `@Entity` generates it.
public struct RelationshipDefinition<E: Entity>: Sendable {
  /// The name in the file.
  public let name: String
  let declaration: RelationshipDeclaration

  /// Names `relationship`, a static property of the entity.
  public init<Target: Entity>(_ name: String, _ relationship: ToMany<E, Target>) {
    self.name = name
    declaration = relationship.declaration
  }
}

extension EntitySchema {
  /// The name of a relationship of the entity; `nil` when the schema does not list it.
  func name(of declaration: RelationshipDeclaration) -> String? {
    relationships.first { $0.declaration === declaration }?.name
  }
}

extension ToMany {
  /// The name in the schema.
  var name: String? { E.schema.name(of: declaration) }
}
