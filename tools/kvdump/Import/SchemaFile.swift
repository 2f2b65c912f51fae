import EntityStore
import LodestoreFormat

/// Reads the output of `kvdump schema --format json`.
///
/// Members of a wrong type and unknown members are refused with their path, such as
/// `Pod.attributes[2].optional`, so that nothing in the file is silently ignored.
enum SchemaFile {
  /// The entity `name` in the file at `path`.
  ///
  /// The file has one entity as an object, an array of entities, or one entity on each line.
  static func entity(_ name: String, in path: String) throws -> SchemaFileEntity {
    let pages = PageReader([try InputFile(path)], records: nil)
    var known: [String] = []
    while let page = try pages.next() {
      if let error = page.error { throw CommandFailure.badSchemaFile(path, reason: "\(error)") }
      for record in page.records {
        guard let entity = record.node["entity"]?.string else {
          throw CommandFailure.badSchemaFile(path, reason: "has a value without a text 'entity'")
        }
        if entity == name {
          return try SchemaFileEntity(SchemaNode(record.node, at: name, in: path))
        }
        known.append(entity)
      }
    }
    let hint = NearestName.of(name, among: known).map { ", but \"\($0)\"" } ?? ""
    throw CommandFailure.badSchemaFile(path, reason: "has no entity \"\(name)\"\(hint)")
  }
}

/// An entity of a schema file.
struct SchemaFileEntity {
  private(set) var declared: DeclaredEntity
  /// Relationships and derivations in the file, which only a program can declare.
  private(set) var undeclared: [String] = []

  fileprivate init(_ node: SchemaNode) throws {
    try node.check(members: SchemaRows.entityColumns.map(\.name))
    guard let list = try node.array("attributes") else {
      throw node.failure("has no array 'attributes'")
    }
    let attributes = try list.map(Self.attribute)
    func position(_ name: String, _ node: SchemaNode) throws -> Int {
      guard let position = attributes.firstIndex(where: { $0.name == name }) else {
        throw node.failure("names '\(name)', which is not an attribute")
      }
      return position
    }
    let indexes = try (node.array("indexes") ?? []).map { index in
      try index.check(members: ["number", "attributes", "unique"])
      let names = try index.texts("attributes")
      if names.isEmpty { throw index.failure("has no 'attributes'") }
      return DeclaredEntity.DeclaredIndex(
        attributes: try names.map { try position($0, index) },
        isUnique: try index.bool("unique") ?? false)
    }
    declared = try DeclaredEntity(
      name: node.path, attributes: attributes, indexes: indexes, isPartial: true)
    /// The attribute and the path of an index or of one of its sources.
    func source(
      _ node: SchemaNode, and others: String...
    ) throws -> (attribute: Int, path: [String]) {
      try node.check(members: ["attribute", "path"] + others)
      guard let name = try node.text("attribute") else { throw node.failure("has no 'attribute'") }
      return (attribute: try position(name, node), path: try node.texts("path"))
    }
    for index in try node.array("elementIndexes") ?? [] {
      let (attribute, path) = try source(index)
      try declared.addIndex(overElementsOf: attribute, path: path)
    }
    for index in try node.array("searchIndexes") ?? [] {
      try index.check(members: ["sources"])
      let sources = try (index.array("sources") ?? []).map { node in
        let (attribute, path) = try source(node, and: "weight")
        return (attribute: attribute, path: path, weight: try node.integer("weight") ?? 1)
      }
      try declared.addSearchIndex(over: sources)
    }
    for index in try node.array("placeIndexes") ?? [] {
      try index.check(members: ["sources", "admitsInvalid"])
      try declared.addPlaceIndex(
        over: (index.array("sources") ?? []).map { try source($0) },
        admitsInvalid: try index.bool("admitsInvalid") ?? false)
    }
    for index in try node.array("vectorIndexes") ?? [] {
      try index.check(members: ["attribute", "dimensions"])
      guard let name = try index.text("attribute"), let dimensions = try index.integer("dimensions")
      else { throw index.failure("has no 'attribute' or no 'dimensions'") }
      try declared.addVectorIndex(over: try position(name, index), dimensions: dimensions)
    }
    for rule in try node.array("rules") ?? [] {
      try rule.check(members: ["name", "condition"])
      guard let name = try rule.text("name"), let condition = try rule.text("condition") else {
        throw rule.failure("has no 'name' or no 'condition'")
      }
      declared.rules.append(.init(name: name, condition: condition))
    }
    if let history = try node.object("history") {
      try history.check(members: ["images", "preserved"])
      declared.keepHistory(
        images: try history.bool("images") ?? false,
        preserved: try history.texts("preserved").map { try position($0, history) })
    }
    if let name = try node.text("expires") { try declared.haveExpire(by: try position(name, node)) }
    if let limit = try node.object("limit") {
      try limit.check(members: ["count", "bytes", "by"])
      try declared.limitRecords(
        count: try limit.integer("count"), bytes: try limit.integer("bytes"),
        by: try limit.text("by").map { try position($0, limit) })
    }
    for relationship in try node.array("relationships") ?? [] {
      undeclared.append("relationship '\(try relationship.text("name") ?? "?")'")
    }
    for attribute in list where try attribute.text("derived") != nil {
      undeclared.append("derivation of '\(try attribute.text("name") ?? "?")'")
    }
  }

  private static func attribute(_ node: SchemaNode) throws -> DeclaredEntity.Attribute {
    try node.check(members: [
      "number", "name", "source", "type", "optional", "shape", "initial", "minimum", "maximum",
      "minLength", "maxLength", "pattern", "derived",
    ])
    guard let name = try node.text("name"), let typeName = try node.text("type") else {
      throw node.failure("has no 'name' or no 'type'")
    }
    guard name != RecordColumns.idName else {
      throw node.failure("is named '_id', the store's name for the id of a record")
    }
    guard let type = AttributeType(name: typeName) else {
      let known = AttributeType.allCases.map(\.name)
      let hint = NearestName.of(typeName, among: known).map { ", perhaps \($0)" } ?? ""
      throw node.failure("has the type '\(typeName)', which is not a type\(hint)")
    }
    var attribute = DeclaredEntity.Attribute(
      name: name, source: try node.text("source"),
      storage: AttributeStorage(
        type: type, isOptional: try node.bool("optional") ?? false, shape: try node.text("shape")))
    attribute.initial = try node.value("initial", as: type)
    var constraints = AttributeConstraints()
    constraints.minimum = try node.value("minimum", as: type)
    constraints.maximum = try node.value("maximum", as: type)
    constraints.minLength = try node.integer("minLength")
    constraints.maxLength = try node.integer("maxLength")
    constraints.pattern = try node.text("pattern")
    attribute.constraints = constraints
    return attribute
  }
}

/// A value of a schema file with its path.
///
/// Null counts as absent.
private struct SchemaNode {
  private let node: JSONNode
  /// The path, such as `Pod.attributes[2]`.
  let path: String
  private let file: String

  init(_ node: JSONNode, at path: String, in file: String) {
    self.node = node
    self.path = path
    self.file = file
  }

  func failure(_ reason: String) -> CommandFailure {
    CommandFailure.badSchemaFile(file, reason: "\(path) \(reason)")
  }

  /// Throws if this is not an object, or has a member that is not among `members`.
  func check(members: [String]) throws {
    guard node.kind == .object else { throw failure("must be an object, found \(node.kindName)") }
    for (name, _) in node.members where !members.contains(name) {
      let hint = NearestName.of(name, among: members).map { "did you mean '\($0)'?" }
      throw failure(
        "has the unknown member '\(name)'; "
          + (hint ?? "known are \(members.joined(separator: ", "))"))
    }
  }

  private func member(_ name: String) -> SchemaNode? {
    guard let value = node[name], !value.isNull else { return nil }
    return SchemaNode(value, at: "\(path).\(name)", in: file)
  }

  private func member<V>(_ name: String, _ wanted: String, _ read: (JSONNode) -> V?) throws -> V? {
    guard let member = member(name) else { return nil }
    guard let value = read(member.node) else {
      throw member.failure("must be \(wanted), found \(member.node.kindName)")
    }
    return value
  }

  func text(_ name: String) throws -> String? { try member(name, "a string") { $0.string } }
  func bool(_ name: String) throws -> Bool? { try member(name, "true or false") { $0.bool } }

  func integer(_ name: String) throws -> Int? {
    try member(name, "an integer") { $0.int64.flatMap { Int(exactly: $0) } }
  }

  func object(_ name: String) throws -> SchemaNode? {
    _ = try member(name, "an object") { $0.kind == .object ? $0 : nil }
    return member(name)
  }

  func array(_ name: String) throws -> [SchemaNode]? {
    try member(name, "an array") { $0.kind == .array ? $0 : nil }?.elements.enumerated().map {
      SchemaNode($1, at: "\(path).\(name)[\($0)]", in: file)
    }
  }

  /// The texts of an array; empty if it is absent.
  func texts(_ name: String) throws -> [String] {
    try (array(name) ?? []).map { element in
      guard let text = element.node.string else {
        throw element.failure("must be a string, found \(element.node.kindName)")
      }
      return text
    }
  }

  /// A value of an attribute's type; null if it is absent.
  func value(_ name: String, as type: AttributeType) throws -> Value {
    guard let member = member(name) else { return .null }
    do {
      return try Value(member.node, as: type)
    } catch {
      throw member.failure("\(error)")
    }
  }
}
