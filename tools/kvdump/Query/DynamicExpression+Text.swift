import EntityStore
import LodestoreFormat

extension DynamicExpression {
  /// A path or an expression typed as an argument: `name`, `license.type`, `author.name`,
  /// `books.@max.pages` or `uppercase:(name)`.
  ///
  /// Checks the names in a path. The names in an expression are checked when the query is planned.
  static func checked(
    _ text: String, of entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> DynamicExpression {
    guard let expression = DynamicExpression(text, of: entity) else {
      throw CommandFailure.badArgument(
        text, reason: "is not a path",
        nextStep: "write an attribute and the names inside with dots between them: license.type")
    }
    guard let path = expression.path else { return expression }
    guard let name = path.attributeName else {
      throw CommandFailure.badArgument(
        text, reason: "begins with no attribute", nextStep: "name one in front")
    }
    if name == RecordColumns.idName, !path.leadsInside { return expression }
    // Planning refuses the distance of a condition without a place or vector.
    if name == DynamicRecord.distanceName, !path.leadsInside { return expression }
    if path.leadsInside, snapshot.relationships(of: entity).contains(where: { $0.name == name }) {
      return expression
    }
    guard let attribute = entity.description.attribute(named: name) else {
      throw UnknownName.attribute(name, of: entity, known: [RecordColumns.idName])
    }
    guard !path.leadsInside || attribute.type == .json || attribute.type == .document else {
      throw CommandFailure.badArgument(
        text, reason: "'\(name)' is stored as \(attribute.type.name) and has nothing inside",
        nextStep: "name it alone")
    }
    return expression
  }
}
