import EntityStore

/// A name in a command line that the store does not have.
///
/// The failure names the store, which whoever looks the name up does not know.
struct UnknownName: Error {
  enum Kind: String {
    case entity, attribute, relationship, index, tree
  }

  let kind: Kind
  let name: String
  /// The entity that was to have the attribute, relationship or index.
  var entity: String?
  /// The names that may be meant.
  let known: [String]
  /// The name that is meant, where that is known.
  var meant: String?

  /// - Parameter known: further names that may be meant.
  static func attribute(
    _ name: String, of entity: DynamicEntity, known: [String] = []
  ) -> UnknownName {
    UnknownName(
      kind: .attribute, name: name, entity: entity.name,
      known: entity.description.declaredAttributes.map(\.name) + known,
      meant: entity.description.attribute(filledFrom: name)?.name)
  }
}
