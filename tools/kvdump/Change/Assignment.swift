import EntityStore
import LodestoreFormat

extension Assignment {
  /// The assignment in the library's form, checked except for rules that need a record.
  func bound(to entity: DynamicEntity, of snapshot: DynamicSnapshot) throws -> DynamicAssignment {
    if attribute == RecordColumns.idName {
      throw CommandFailure.badArgument(
        attribute, reason: "is the record's id, which the store gives",
        nextStep: "set another attribute")
    }
    do {
      return try bound(as: try entity.attribute(attribute), of: entity, in: snapshot)
    } catch let error as AssignmentError {
      throw CommandFailure(error)
    }
  }
}
