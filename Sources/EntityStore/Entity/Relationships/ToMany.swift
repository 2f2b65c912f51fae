internal import LodestoreFormat

/// A relationship of a record of `E` to any number of records of `Target`.
///
/// Declared once as a static property of the entity; the value names the relationship, it holds no
/// records. Either an attribute of the other side holds an id, or links have trees of their own,
/// and both sides may have any number (many-to-many):
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
/// Without macros the entity lists them in its schema: `relationships: [.init("members", members)]`, and
/// names them in its `Attributes` for conditions: `var members: ToMany<Group, Person> { Group.members }`.
///
/// Records are read with ``ReadableTransaction/related(_:of:_:)->[Target]``, links changed with
/// `WriteTransaction.add(_:to:of:)` and its like. A store is opened with both entities.
public struct ToMany<E: Entity, Target: Entity>: Sendable {
  /// The identity of the relationship: each declaration has its own.
  let declaration: RelationshipDeclaration

  /// A relationship with links of its own, which may have an inverse.
  ///
  /// - Parameters:
  ///   - ordered: whether the records that one record leads to have an order of their own, which the program
  ///     gives them: see ``WriteTransaction/add(_:to:of:at:)``.
  ///   - onDelete: what happens to the records that it leads to when a record of `E` is deleted.
  public init(ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify) {
    self.init(ordered, onDelete, nil)
  }

  init(_ ordered: Bool, _ onDelete: RelationshipDeleteRule, _ denyCondition: StoredCondition?) {
    declaration = RelationshipDeclaration(to: Target.self, onDelete, denyCondition, ordered) { _ in
      .none
    }
  }

  /// Declares the inverse of a relationship with links of its own.
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
  /// As the attribute cannot be null, ``RelationshipDeleteRule/nullify`` is refused.
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

/// The fate of the records that a relationship leads to when the record that it leads away from is
/// deleted.
///
/// A delete follows all rules before anything is written. ``deny`` wins over a ``cascade`` of
/// another relationship to the same record: the records before the delete count, as under SQL's
/// RESTRICT. Records that the call itself names do not keep each other. Otherwise as Core Data's
/// `NSDeleteRule`.
public enum RelationshipDeleteRule: String, Sendable, CaseIterable {
  /// Related records stay; links are removed, and attributes that hold the deleted record's id
  /// become null.
  case nullify
  /// Related records are deleted too, by their own rules.
  case cascade
  /// The delete is refused with ``StoreError/Code/deleteDenied`` while there are such records.
  case deny
  /// Nothing: the program sees to it. A write that ends with an id of a missing record is refused.
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

/// A condition as a format string, or the error of one that cannot be kept in the file.
typealias StoredCondition = @Sendable () throws(StoreError) -> String

/// One declaration of a relationship; its name is found by its identity.
final class RelationshipDeclaration: Sendable {
  let onDelete: RelationshipDeleteRule
  /// The condition by which a record of the target denies the delete.
  let denyCondition: StoredCondition?
  let isOrdered: Bool
  /// The name of the entity that it leads to.
  let target: @Sendable () -> String
  /// The inverse, given the relationship's own name for messages.
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

/// The name of a to-many relationship in the schema of `E`; `@Entity` writes it.
public struct RelationshipDefinition<E: Entity>: Sendable {
  /// The name in the file.
  public let name: String
  let declaration: RelationshipDeclaration

  /// Gives `relationship`, a static property of the entity, its name.
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
