internal import LodestoreFormat

/// The declaration that an attribute, which holds an id, is a relationship to one record.
struct ToOneDeclaration: Sendable {
  /// The name of the entity that it leads to.
  let target: @Sendable () -> String
  let onDelete: RelationshipDeleteRule
}

extension AttributeDefinition {
  /// Declares an optional attribute that leads to one record of `Target`, or to none.
  ///
  /// `@Relationship` generates this call. The attribute gets an index. The record must exist when
  /// the write ends. When the record is deleted, the attribute becomes null, unless an inverse
  /// ``ToMany`` declares another rule.
  ///
  /// - Parameter onDelete: the effect on the record to which the attribute leads when the record
  ///   with the attribute is deleted.
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
  /// While a record with the attribute exists, deleting the record to which it leads is refused,
  /// unless an inverse ``ToMany`` declares another rule.
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
