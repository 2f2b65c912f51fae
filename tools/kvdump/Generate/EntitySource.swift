import EntityStore
import LodestoreBytes
import LodestoreFormat

/// The Swift source of one entity.
struct EntitySource {
  let entity: DynamicEntity
  let model: ModelSource
  /// The name of the struct.
  let name: String
  /// The property of each attribute that the source declares, by the attribute's number.
  private(set) var properties: [UInt32: String] = [:]
  /// Reasons for parts of the schema that the source leaves out, and names that it changes.
  private(set) var notes: [String] = []
  private var documents: DocumentTypes
  private var members: [String] = []
  private var constants: [String] = []

  var description: EntityDescription { entity.description }

  init(_ entity: DynamicEntity, in model: ModelSource) {
    self.entity = entity
    self.model = model
    name = model.typeName(of: entity.name)
    documents = DocumentTypes(taken: Set(model.typeNames.values))
  }

  mutating func leaveOut(_ part: String, _ reason: String) {
    notes.append("\(entity.name).\(part) is left out: \(reason)")
  }

  /// Declares the properties.
  ///
  /// The properties of all entities are declared before indexes and relationships, which name
  /// properties of other entities.
  mutating func declareProperties() {
    for attribute in description.declaredAttributes {
      let property = model.property(of: attribute.name, in: entity)
      do throws(Inexpressible) {
        let line = try declaration(of: attribute, as: SwiftNames.escaped(property))
        if let source = attribute.source {
          let member = "the member \(SwiftLiteral.text(source))"
          members.append("  /// Imports set it from \(member).")
          notes.append(
            "\(entity.name).\(attribute.name) is imported from \(member) by the file only")
        }
        members.append("  " + line)
        properties[attribute.number] = property
        if property != attribute.name {
          notes.append("\(entity.name).\(attribute.name) is the property '\(property)'")
        }
      } catch {
        let hasValue = attribute.isOptional || attribute.defaultValue != .null
        leaveOut(
          attribute.name,
          error.reason + (hasValue ? "" : "; without its value, no record can be inserted"))
      }
    }
  }

  // MARK: Properties

  private mutating func declaration(
    of attribute: EntityDescription.Attribute, as property: String
  ) throws(Inexpressible) -> String {
    if let derivation = attribute.derivation {
      return try declaration(of: attribute, as: property, derived: derivation)
    }
    let relationship = model.toOne(attribute.name, of: entity)
    var type: String
    if let relationship {
      type = model.typeName(of: relationship.target.name) + ".ID"
    } else {
      type = try self.type(attribute)
    }
    if attribute.isOptional { type += "?" }
    var options: [String] = []
    if property.unescaped != attribute.name {
      options.append("name: \(SwiftLiteral.text(attribute.name))")
    }
    let constraints = try constraints(of: attribute)
    if !constraints.isEmpty {
      options.append("constraints: [\(constraints.joined(separator: ", "))]")
    }
    var marks = options.isEmpty ? "" : "@Attribute(\(options.joined(separator: ", "))) "
    if let relationship {
      let rule = relationship.onDelete
      marks += "@Relationship\(rule == .nullify ? "" : "(onDelete: .\(rule.rawValue))") "
    }
    return "\(marks)var \(property): \(type)\(try initial(of: attribute, type, property))"
  }

  private mutating func type(
    _ attribute: EntityDescription.Attribute
  ) throws(Inexpressible) -> String {
    switch attribute.type {
    case .document: return try documents.type(attribute)
    case .recordID: return "RecordID<\(name)>"
    default: return attribute.type.swiftName ?? "JSONValue"
    }
  }

  /// The default value with its equals sign; empty for none.
  private mutating func initial(
    of attribute: EntityDescription.Attribute, _ type: String, _ property: String
  ) throws(Inexpressible) -> String {
    let value = attribute.defaultValue
    if value == .null { return "" }
    if let constant = constant(value, attribute.type) {
      let wrapped = type.hasSuffix("?") ? String(type.dropLast()) : type
      let constantName = "\(property.unescaped)Default"
      constants.append("  static let \(constantName): \(wrapped) = \(constant)")
      return " = \(name).\(constantName)"
    }
    var text = SwiftLiteral.value(value)
    if case .document(let bytes) = value {
      let document = bytes._withBytes { try? Document(decoding: $0) }
      text = document.flatMap { document in
        attribute.type == .json
          ? SwiftLiteral.json(document)
          : attribute.members.flatMap { documents.literal(document, $0, type) }
      }
    }
    guard let text else { throw Inexpressible("no literal has its default value") }
    return " = \(text)"
  }

  /// The expression of a value that is not the same in every process by its form, for a constant.
  private func constant(_ value: Value, _ type: AttributeType) -> String? {
    switch (value, type) {
    case (.uuid(let uuid), _):
      let bytes = uuid.text.filter { $0 != "-" }
      let parts = stride(from: 0, to: 32, by: 2).map { position -> String in
        let start = bytes.index(bytes.startIndex, offsetBy: position)
        return "0x" + bytes[start..<bytes.index(start, offsetBy: 2)]
      }
      return "UUID(uuid: (\(parts.joined(separator: ", "))))"
    case (.decimal(let decimal), _):
      return decimal.isNaN
        ? "Decimal.nan" : "Decimal(string: \"\(decimal.text)\") ?? Decimal.nan"
    case (.string(let text), .url):
      return "URL(string: \(SwiftLiteral.text(text))) ?? URL(filePath: \"/\")"
    default: return nil
    }
  }

  private func constraints(
    of attribute: EntityDescription.Attribute
  ) throws(Inexpressible) -> [String] {
    let constraints = attribute.constraints
    var found: [String] = []
    func literal(_ value: Value) throws(Inexpressible) -> String {
      if value == .null { return "" }
      if case .decimal(let decimal) = value, let number = Int64(decimal.text) {
        return "Decimal(\(number))"
      }
      guard let text = SwiftLiteral.value(value) else {
        throw Inexpressible("no literal has a bound of its range")
      }
      if case .unsigned = value { return "UInt64(\(text))" }
      return text
    }
    if constraints.hasRange {
      let (low, high) = (try literal(constraints.minimum), try literal(constraints.maximum))
      // '...-' would be one operator.
      let bound = high.hasPrefix("-") ? "(\(high))" : high
      found.append(".range(\(low)\(low.isEmpty || high.isEmpty ? "..." : " ... ")\(bound))")
    }
    if constraints.hasLength {
      let limits = [constraints.minLength, constraints.maxLength].map { $0.map { "\($0)" } ?? "" }
      found.append(".length(\(limits.joined(separator: "...")))")
    }
    if let pattern = constraints.pattern {
      found.append(".pattern(\(SwiftLiteral.text(pattern)))")
    }
    return found
  }

  // MARK: Derived attributes

  private mutating func declaration(
    of attribute: EntityDescription.Attribute, as property: String,
    derived derivation: DerivationDescription
  ) throws(Inexpressible) -> String {
    let expression = try expression(derivation, attribute)
    let type = try self.type(attribute) + (attribute.isOptional ? "?" : "")
    let initial =
      switch (attribute.isOptional, attribute.type) {
      case (true, _): ""
      case (_, .string): " = \"\""
      case (_, .date): " = Date.distantPast"
      default: " = 0"
      }
    let mark =
      property.unescaped == attribute.name
      ? "" : "@Attribute(name: \(SwiftLiteral.text(attribute.name))) "
    return "\(mark)@Derived(\(expression)) private(set) var \(property): \(type)\(initial)"
  }

  private func expression(
    _ derivation: DerivationDescription, _ attribute: EntityDescription.Attribute
  ) throws(Inexpressible) -> String {
    func path(_ number: UInt32?, of owner: DynamicEntity) throws(Inexpressible) -> String {
      guard let source = number.flatMap({ owner.description.attribute(number: $0) }) else {
        throw Inexpressible("its source is not declared")
      }
      let property = SwiftNames.escaped(model.property(of: source.name, in: owner))
      return "\\\(model.typeName(of: owner.name)).\(property)"
    }
    switch derivation.kind {
    case .canonical, .uppercase, .lowercase:
      return ".\(derivation.kind.rawValue)(\(try path(derivation.source, of: entity)))"
    case .inserted: return ".insertedAt"
    case .changed: return ".changedAt"
    case .function:
      throw Inexpressible(
        "it is derived by a function of a program, version \(derivation.version ?? 0)")
    case .member:
      let names = (derivation.path ?? []).map(SwiftLiteral.text).joined(separator: ", ")
      let type = attribute.type.swiftName ?? "JSONValue"
      return ".member(\(try path(derivation.source, of: entity)), \(names), as: \(type).self)"
    case .datePart:
      guard let part = derivation.part, part.offset % 60 == 0 else {
        throw Inexpressible("its time zone is not a whole number of minutes from UTC")
      }
      let (hours, minutes) = (part.offset / 60).quotientAndRemainder(dividingBy: 60)
      let zone =
        part.offset == 0
        ? "" : ", in: .offset(hours: \(hours)\(minutes == 0 ? "" : ", minutes: \(minutes)"))"
      let source = try path(derivation.source, of: entity)
      let name = part.part.rawValue
      guard part.part.isDate else { return ".part(.\(name), of: \(source)\(zone))" }
      let unit = name.dropFirst("startOf".count)
      return ".start(of: .\(unit.prefix(1).lowercased() + unit.dropFirst()), \(source)\(zone))"
    case .copy, .count, .sum, .minimum, .maximum, .average:
      guard let end = model.relationship(derivation, of: entity), let side = end.name else {
        throw Inexpressible("its relationship has no name on this side")
      }
      if derivation.kind == .copy {
        let link = SwiftNames.escaped(model.property(of: side, in: entity))
        return ".copy(\\\(name).\(link), \(try path(derivation.source, of: end.target)))"
      }
      guard SwiftNames.isStatic(side) else {
        throw Inexpressible("its relationship '\(side)' cannot be declared")
      }
      var arguments = ["\(name).\(SwiftNames.escaped(side))"]
      if derivation.source != nil { arguments.append(try path(derivation.source, of: end.target)) }
      if let condition = derivation.condition {
        arguments.append("where: \(SwiftLiteral.text(condition))")
      }
      return ".\(derivation.kind.rawValue)(\(arguments.joined(separator: ", ")))"
    }
  }

  // MARK: The whole entity

  /// The source of the struct, after the properties of all entities are declared.
  mutating func text(_ others: [String: EntitySource]) -> String {
    var lines = [
      "@Entity\(name == entity.name ? "" : "(name: \(SwiftLiteral.text(entity.name)))")",
      "struct \(name) {",
    ]
    let marks = indexes() + evictions()
    lines += marks
    if !marks.isEmpty { lines.append("") }
    lines += members
    let shared = toMany(others) + computedIndexes() + rules() + history() + constants
    if !shared.isEmpty { lines += [""] + shared }
    for structure in documents.structures { lines += [""] + Self.lines(of: structure) }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  func path(_ number: UInt32) -> String? {
    properties[number].map { "\\.\(SwiftNames.escaped($0))" }
  }

  private mutating func indexes() -> [String] {
    let implied = [description.expiry?.attribute, description.limit?.attribute].compactMap(\.self)
    var lists: [Bool: [String]] = [:]
    for index in entity.indexes.map(\.description) {
      let paths = index.attributes.compactMap(path)
      guard paths.count == index.attributes.count else {
        leaveOut(description.indexName(index), "the index has an attribute that is left out")
        continue
      }
      if !index.isUnique, index.attributes.count == 1 {
        let attribute = description.attribute(number: index.attributes[0])
        // The declarations of a relationship, an expiry and a limit bring their index.
        let isLink = attribute.map { model.toOne($0.name, of: entity) != nil } ?? false
        if isLink || implied.contains(index.attributes[0]) { continue }
      }
      lists[index.isUnique, default: []].append("[\(paths.joined(separator: ", "))]")
    }
    return [("Unique", lists[true]), ("Index", lists[false])].compactMap { macro, lists in
      lists.map { "  #\(macro)<\(name)>(\($0.joined(separator: ", ")))" }
    }
  }

  private mutating func evictions() -> [String] {
    var lines: [String] = []
    if let expiry = description.expiry {
      if let path = path(expiry.attribute) {
        lines.append("  #Expires<\(name)>([\(path)])")
      } else {
        leaveOut("expiry", "its date is left out")
      }
    }
    if let limit = description.limit {
      let by = limit.attribute.map(path)
      if case .some(nil) = by {
        leaveOut("limit", "its attribute is left out")
      } else {
        let parts = [
          limit.count.map { "count: \($0)" }, limit.byteCount.map { "bytes: \($0)" },
          by.flatMap(\.self).map { "by: [\($0)]" },
        ].compactMap(\.self)
        lines.append("  #Limit<\(name)>(\(parts.joined(separator: ", ")))")
      }
    }
    return lines
  }

  private mutating func toMany(_ others: [String: EntitySource]) -> [String] {
    var lines: [String] = []
    for relationship in model.relationships(of: entity) where !relationship.isToOne {
      guard let side = relationship.name else { continue }
      guard SwiftNames.isStatic(side) else {
        leaveOut(side, "a static property cannot have the name")
        continue
      }
      let target = relationship.target
      let targetName = model.typeName(of: target.name)
      var arguments: [String] = []
      var usual = DeleteRule.nullify
      if let inverse = relationship.inverseName, relationship.inverseIsToOne {
        guard let attribute = target.description.attribute(named: inverse),
          let property = others[target.name]?.properties[attribute.number]
        else {
          leaveOut(side, "its inverse \(target.name).\(inverse) is left out")
          continue
        }
        arguments.append("inverse: \\\(targetName).\(SwiftNames.escaped(property))")
        if !attribute.isOptional { usual = .deny }
      } else if let inverse = relationship.inverseName, !relationship.isFirst {
        guard SwiftNames.isStatic(inverse) else {
          leaveOut(side, "its inverse \(target.name).\(inverse) is left out")
          continue
        }
        arguments.append("inverse: \(targetName).\(SwiftNames.escaped(inverse))")
      }
      if relationship.isOrdered { arguments.append("ordered: true") }
      if relationship.onDelete != usual || relationship.denyCondition != nil {
        arguments.append("onDelete: .\(relationship.onDelete.rawValue)")
      }
      if let condition = relationship.denyCondition {
        arguments.append("deniesDeleteWhere: { _ in condition(\(SwiftLiteral.text(condition))) }")
      }
      lines.append(
        "  static let \(SwiftNames.escaped(side)) = ToMany<\(name), \(targetName)>"
          + "(\(arguments.joined(separator: ", ")))")
    }
    return lines
  }

  private func rules() -> [String] {
    guard !description.rules.isEmpty else { return [] }
    let rules = description.rules.map {
      "    RecordRule<\(name)>(\(SwiftLiteral.text($0.name)), format: "
        + "\(SwiftLiteral.text($0.condition))),"
    }
    return ["  static let rules = ["] + rules + ["  ]"]
  }

  private func history() -> [String] {
    guard let history = description.history else { return [] }
    let preserved = history.preserved.compactMap(path).joined(separator: ", ")
    let arguments = [
      preserved.isEmpty ? nil : "preserving: \(preserved)",
      history.keepsImages ? "images: true" : nil,
    ].compactMap(\.self)
    return [
      "  static let history = HistoryPolicy<\(name)>.kept(\(arguments.joined(separator: ", ")))"
    ]
  }

  private static func lines(of structure: DocumentTypes.Structure) -> [String] {
    var lines = ["  struct \(structure.name): Codable, Hashable, Sendable {"]
    for member in structure.members {
      lines.append("    var \(SwiftNames.escaped(member.property)): \(member.type)")
    }
    if structure.members.contains(where: { $0.name != $0.property }) {
      lines += ["", "    enum CodingKeys: String, CodingKey {"]
      for member in structure.members {
        let name = member.name == member.property ? "" : " = \(SwiftLiteral.text(member.name))"
        lines.append("      case \(SwiftNames.escaped(member.property))\(name)")
      }
      lines.append("    }")
    }
    return lines + ["  }"]
  }
}

extension String {
  /// The name without backticks.
  fileprivate var unescaped: String { filter { $0 != "`" } }
}
