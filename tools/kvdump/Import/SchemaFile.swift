import EntityStore
import LodestoreFormat

/// Reads what `kvdump schema --format json` writes.
enum SchemaFile {
  /// The entity `name` in the file at `path`, which has one entity object, an array of them, or
  /// one a line.
  static func entity(_ name: String, in path: String) throws -> DeclaredEntity {
    let pages = PageReader([try InputFile(path)], records: nil)
    var known: [String] = []
    while let page = try pages.next() {
      if let error = page.error {
        throw CommandFailure.badSchemaFile(path, reason: "\(error)")
      }
      for record in page.records {
        guard let entity = record.node["entity"]?.string else {
          throw CommandFailure.badSchemaFile(path, reason: "has a value without a text 'entity'")
        }
        if entity == name { return try declared(record.node, name, path) }
        known.append(entity)
      }
    }
    let hint = NearestName.of(name, among: known).map { ", but \"\($0)\"" } ?? ""
    throw CommandFailure.badSchemaFile(path, reason: "has no entity \"\(name)\"\(hint)")
  }

  private static func declared(
    _ node: JSONNode, _ name: String, _ path: String
  ) throws -> DeclaredEntity {
    guard let list = node["attributes"], list.kind == .array else {
      throw CommandFailure.badSchemaFile(path, reason: "\(name) has no array 'attributes'")
    }
    let attributes = try list.elements.map { try attribute($0, path) }
    let indexes = try (node["indexes"]?.elements).map { elements in
      try elements.map { element in
        let names = element["attributes"]?.elements.compactMap(\.string) ?? []
        let positions = try names.map { name in
          guard let position = attributes.firstIndex(where: { $0.name == name }) else {
            throw CommandFailure.badSchemaFile(
              path, reason: "an index names '\(name)', which is no attribute")
          }
          return position
        }
        return DeclaredEntity.Index(
          attributes: positions, isUnique: element["unique"]?.bool ?? false)
      }
    }
    var declared = try DeclaredEntity(
      name: name, attributes: attributes, indexes: indexes ?? [], isPartial: true)
    for index in node["elementIndexes"].map({ Array($0.elements) }) ?? [] {
      guard let name = index["attribute"]?.string,
        let position = attributes.firstIndex(where: { $0.name == name })
      else {
        throw CommandFailure.badSchemaFile(
          path, reason: "an index over elements names no attribute")
      }
      try declared.addIndex(
        overElementsOf: position, path: index["path"]?.elements.compactMap(\.string) ?? [])
    }
    let rules = node["rules"].map { Array($0.elements) } ?? []
    for rule in rules {
      guard let name = rule["name"]?.string, let condition = rule["condition"]?.string else {
        throw CommandFailure.badSchemaFile(path, reason: "a rule has no 'name' or no 'condition'")
      }
      declared.rules.append(.init(name: name, condition: condition))
    }
    if let history = node["history"], !history.isNull {
      let names = history["preserved"]?.elements.compactMap(\.string) ?? []
      let preserved = try names.map { name in
        guard let position = attributes.firstIndex(where: { $0.name == name }) else {
          throw CommandFailure.badSchemaFile(
            path, reason: "the history preserves '\(name)', which is no attribute")
        }
        return position
      }
      declared.keepHistory(images: history["images"]?.bool ?? false, preserved: preserved)
    }
    return declared
  }

  private static func attribute(
    _ node: JSONNode, _ path: String
  ) throws -> DeclaredEntity.Attribute {
    guard let name = node["name"]?.string, let typeName = node["type"]?.string else {
      throw CommandFailure.badSchemaFile(path, reason: "an attribute has no 'name' or no 'type'")
    }
    guard name != RecordColumns.idName else {
      throw CommandFailure.badSchemaFile(
        path, reason: "an attribute is named '_id', the store's own name for the id of a record")
    }
    guard let type = AttributeType(name: typeName) else {
      let known = AttributeType.allCases.map(\.name)
      let hint = NearestName.of(typeName, among: known).map { ", perhaps \($0)" } ?? ""
      throw CommandFailure.badSchemaFile(
        path, reason: "'\(name)' has type '\(typeName)', which is none\(hint)")
    }
    var attribute = DeclaredEntity.Attribute(
      name: name,
      storage: AttributeStorage(
        type: type, isOptional: node["optional"]?.bool ?? false, shape: node["shape"]?.string))
    if let initial = node["initial"] {
      do {
        attribute.initial = try Value(initial, as: type)
      } catch {
        throw CommandFailure.badSchemaFile(path, reason: "the initial value of '\(name)' \(error)")
      }
    }
    attribute.constraints = try constraints(node, of: name, type, path)
    return attribute
  }

  private static func constraints(
    _ node: JSONNode, of attribute: String, _ type: AttributeType, _ path: String
  ) throws -> AttributeConstraints {
    func bound(_ member: String) throws -> Value {
      guard let bound = node[member] else { return .null }
      do {
        return try Value(bound, as: type)
      } catch {
        throw CommandFailure.badSchemaFile(path, reason: "the \(member) of '\(attribute)' \(error)")
      }
    }
    func length(_ member: String) throws -> Int? {
      guard let length = node[member], !length.isNull else { return nil }
      guard let value = length.int64 else {
        throw CommandFailure.badSchemaFile(
          path, reason: "the \(member) of '\(attribute)' must be an integer")
      }
      return Int(value)
    }
    var constraints = AttributeConstraints()
    constraints.minimum = try bound("minimum")
    constraints.maximum = try bound("maximum")
    constraints.minLength = try length("minLength")
    constraints.maxLength = try length("maxLength")
    if let pattern = node["pattern"], !pattern.isNull {
      guard let text = pattern.string else {
        throw CommandFailure.badSchemaFile(
          path, reason: "the pattern of '\(attribute)' must be text")
      }
      constraints.pattern = text
    }
    return constraints
  }
}
