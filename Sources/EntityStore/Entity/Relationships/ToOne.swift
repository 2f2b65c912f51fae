internal import LodestoreFormat

/// That an attribute, which holds an id, is a relationship to one record.
struct ToOneDeclaration: Sendable {
  /// The name of the entity that it leads to.
  let target: @Sendable () -> String
  let onDelete: RelationshipDeleteRule
}

extension AttributeDefinition {
  /// Declares an optional attribute that leads to one record of `Target`, or to none; `@Relationship`
  /// writes it.
  ///
  /// It has an index of its own. The record must be there when the write ends. When that record is
  /// deleted, the attribute becomes null, unless a ``ToMany`` that is its inverse says otherwise.
  ///
  /// - Parameter onDelete: what happens to that record when the one with the attribute is deleted.
  public static func toOne<Target: Entity>(
    _ name: String, _ keyPath: any KeyPath<E, RecordID<Target>?> & Sendable,
    originalName: String? = nil, onDelete: RelationshipDeleteRule = .nullify
  ) -> AttributeDefinition {
    AttributeDefinition(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: RecordID<Target>?._storage, initial: .null, constraints: [],
      toOne: ToOneDeclaration(target: { Target.schema.name }, onDelete: onDelete))
  }

  /// Declares an attribute that leads to one record of `Target`.
  ///
  /// That record cannot be deleted before this one, unless a ``ToMany`` that is its inverse says
  /// otherwise.
  public static func toOne<Target: Entity>(
    _ name: String, _ keyPath: any KeyPath<E, RecordID<Target>> & Sendable,
    originalName: String? = nil, onDelete: RelationshipDeleteRule = .nullify
  ) -> AttributeDefinition {
    AttributeDefinition(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: RecordID<Target>._storage, initial: .null, constraints: [],
      toOne: ToOneDeclaration(target: { Target.schema.name }, onDelete: onDelete))
  }
}
