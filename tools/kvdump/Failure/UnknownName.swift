import EntityStore

/// A name in a command line that the store does not have.
///
/// The code that looks the name up does not know the store's path; the failure made from this error
/// names it.
struct UnknownName: Error {
  enum Kind: String {
    case entity, attribute, relationship, index, tree
  }

  let kind: Kind
  let name: String
  /// The entity expected to have the attribute, relationship or index.
  var entity: String?
  /// The names to choose a suggestion from.
  let known: [String]
  /// The intended name if it is known.
  var meant: String?

  /// - Parameter known: Further names to choose a suggestion from.
  static func attribute(
    _ name: String, of entity: DynamicEntity, known: [String] = []
  ) -> UnknownName {
    UnknownName(
      kind: .attribute, name: name, entity: entity.name,
      known: entity.description.declaredAttributes.map(\.name) + known,
      meant: entity.description.attribute(filledFrom: name)?.name)
  }
}
