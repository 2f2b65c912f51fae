import EntityStore
import LodestoreFormat

extension ValuePath {
  /// A path typed as an argument: `name`, `license.type`, `authors[0].name` or `authors.@count`.
  ///
  /// What names an attribute as it is needs no quotes, whatever characters it has.
  init(_ text: String, of entity: StoredEntity, in store: String) throws {
    guard let path = Self.plain(text, entity) ?? Self.parsed(text) else {
      throw CommandFailure.badArgument(
        text, reason: "is no path",
        nextStep: "write an attribute and the names inside with dots between them: license.type")
    }
    guard case .member(let name)? = path.steps.first else {
      // SELF is the record itself, and the only path that begins with no name.
      guard path.steps.isEmpty else {
        throw CommandFailure.badArgument(
          text, reason: "begins with no attribute", nextStep: "name one in front")
      }
      self.init(attribute: RecordColumns.idName)
      return
    }
    if name == RecordColumns.idName, path.steps.count == 1 {
      self = path
      return
    }
    guard let attribute = entity.description.attribute(named: name) else {
      throw CommandFailure.noSuchAttribute(
        name, of: entity.name, in: store,
        known: entity.description.declaredAttributes.map(\.name) + [RecordColumns.idName])
    }
    guard path.steps.count == 1 || attribute.type == .json || attribute.type == .document else {
      throw CommandFailure.badArgument(
        text, reason: "'\(name)' is stored as \(attribute.type.name) and has nothing inside",
        nextStep: "name it alone")
    }
    self = path
  }

  /// Names, and positions in lists, with dots between them; nil for what the grammar must read.
  private static func plain(_ text: String, _ entity: StoredEntity) -> ValuePath? {
    if text == RecordColumns.idName || entity.description.attribute(named: text) != nil {
      return ValuePath(attribute: text)
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let name = parts.first, entity.description.attribute(named: String(name)) != nil,
      parts.allSatisfy({ !$0.isEmpty && !$0.contains { "@[]\"'#".contains($0) } })
    else { return nil }
    let inside = parts.dropFirst().map { part in
      let isPosition = part.utf8.allSatisfy { (0x30...0x39).contains($0) }
      return isPosition
        ? Int(part).map(Step.element) ?? .member(String(part)) : .member(String(part))
    }
    return ValuePath(.record, [.member(String(name))] + inside)
  }

  /// What the grammar of format strings reads as a key path; it takes one as the argument of `%K`.
  private static func parsed(_ text: String) -> ValuePath? {
    guard let parsed = try? ConditionParser.parse("%K == NULL", arguments: [.path(text)]),
      case .comparison(let comparison) = parsed.tree, case .path(let path) = comparison.left,
      path.root == .record
    else { return nil }
    return path
  }
}
