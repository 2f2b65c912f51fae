import EntityStore
import LodestoreFormat

extension ValuePath {
  /// A path typed as an argument: `name`, `license.type`, `authors[0].name` or `authors.@count`.
  static func checked(
    _ text: String, of entity: DynamicEntity, in store: String
  ) throws -> ValuePath {
    guard let path = ValuePath(text, of: entity) else {
      throw CommandFailure.badArgument(
        text, reason: "is no path",
        nextStep: "write an attribute and the names inside with dots between them: license.type")
    }
    guard let name = path.attributeName else {
      throw CommandFailure.badArgument(
        text, reason: "begins with no attribute", nextStep: "name one in front")
    }
    if name == RecordColumns.idName, !path.leadsInside { return path }
    guard let attribute = entity.description.attribute(named: name) else {
      throw CommandFailure.noSuchAttribute(
        name, of: entity.name, in: store,
        known: entity.description.declaredAttributes.map(\.name) + [RecordColumns.idName])
    }
    guard !path.leadsInside || attribute.type == .json || attribute.type == .document else {
      throw CommandFailure.badArgument(
        text, reason: "'\(name)' is stored as \(attribute.type.name) and has nothing inside",
        nextStep: "name it alone")
    }
    return path
  }
}
