import LodestoreFormat

/// The rules of Format.md, "Catalogue" and "Limits", that reading a description does not check.
enum CatalogueRules {
  struct Problem: Equatable {
    var detail: String
    var rule: FormatRule
    /// Whether the problem makes reading the description further pointless.
    var isFatal = false
  }

  static func problems(of document: Document) -> [Problem] {
    guard case .object = document else {
      return [
        Problem(detail: "the description is not an object", rule: .catalogueMembers, isFatal: true)
      ]
    }
    var problems = problems(ofLayouts: document.elements("layouts"))
    problems += document.elements("attributes").flatMap(Self.problems(ofAttribute:))
    let indexCount = document.elements("indexes").count
    if indexCount > 64 {
      problems.append(
        Problem(detail: "\(indexCount) indexes, at most 64", rule: .catalogueLimits, isFatal: true))
    }
    return problems + Self.problems(ofRules: document.elements("rules"))
      + Self.problems(ofCurrentLayout: document)
  }

  /// Reports attributes that are optional in the current layout but required by their description,
  /// or the reverse.
  private static func problems(ofCurrentLayout document: Document) -> [Problem] {
    let attributes = document.elements("attributes")
    let layouts = document.elements("layouts")
    guard let current = layouts.first(where: { $0["number"] == document["layout"] }) else {
      return []
    }
    return current.elements("attributes").compactMap { element in
      let attribute = attributes.first { $0["number"] == element["number"] }
      guard let attribute, attribute["optional"] != element["optional"],
        case .string(let name)? = attribute["name"]
      else { return nil }
      return Problem(
        detail: "attribute '\(name)' has another 'optional' in the current layout",
        rule: .catalogueCurrentLayout)
    }
  }

  private static func problems(ofLayouts layouts: [Document]) -> [Problem] {
    var problems: [Problem] = []
    if layouts.count > Int(RecordLayout.highestNumber) {
      problems.append(
        Problem(
          detail: "\(layouts.count) layouts, at most \(RecordLayout.highestNumber)",
          rule: .catalogueLimits, isFatal: true))
    }
    var previous: Int64 = 0
    for layout in layouts {
      guard case .integer(let number) = layout["number"] else { continue }
      if number <= previous {
        problems.append(
          Problem(
            detail: "layout \(number) is after layout \(previous), must be ascending",
            rule: .catalogueLayoutOrder))
      }
      previous = number
      let attributeCount = layout.elements("attributes").count
      if attributeCount > 1_000 {
        problems.append(
          Problem(
            detail: "layout \(number) has \(attributeCount) attributes, at most 1,000",
            rule: .catalogueLimits, isFatal: true))
      }
    }
    return problems
  }

  private static func problems(ofAttribute attribute: Document) -> [Problem] {
    guard case .string(let typeName) = attribute["type"],
      let type = AttributeType(name: typeName)
    else { return [] }
    var name = "?"
    if case .string(let text) = attribute["name"] { name = text }
    var problems: [Problem] = []
    func add(_ rule: FormatRule, _ detail: String) {
      problems.append(Problem(detail: "attribute '\(name)' " + detail, rule: rule))
    }
    switch (attribute["shape"], type) {
    case (nil, _), (.string, .document): break
    default:
      add(.catalogueShape, "has a 'shape' that is not text, or of another type than document")
    }
    switch attribute["removed"] {
    case nil, .bool: break
    default: add(.catalogueMembers, "has a 'removed' that is no boolean")
    }
    if let initial = attribute["initial"], initial != .null {
      if !fits(initial, type) {
        add(.catalogueInitial, "has an 'initial' that is no \(type.name)")
      } else if type == .json, !isJSON(initial) {
        add(.catalogueInitial, "has an 'initial' with a value that JSON does not have")
      }
    }
    if case .string(let pattern) = attribute["pattern"],
      let fault = PatternCheck.fault(in: pattern)
    {
      add(.constraintPattern, "has a pattern that \(fault)")
    }
    return problems
  }

  private static func problems(ofRules rules: [Document]) -> [Problem] {
    var names: [Document] = []
    for name in rules.compactMap({ $0["name"] }) {
      if names.contains(name) {
        return [Problem(detail: "two rules have the same name", rule: .catalogueRule)]
      }
      names.append(name)
    }
    return []
  }

  private static func isJSON(_ document: Document) -> Bool {
    switch document {
    case .null, .bool, .integer, .unsigned, .double, .string: true
    case .array(let elements): elements.allSatisfy(isJSON)
    case .object(let members): members.values.allSatisfy(isJSON)
    case .data, .date, .uuid, .decimal: false
    }
  }

  private static func fits(_ initial: Document, _ type: AttributeType) -> Bool {
    let isNested = type == .json || type == .document
    return switch initial {
    case .bool(let flag): Value.bool(flag).fits(type) || isNested
    case .integer(let number): Value.integer(number).fits(type) || isNested
    case .unsigned(let number): Value.unsigned(number).fits(type) || isNested
    case .double(let number): Value.double(number).fits(type) || isNested
    case .string: type == .string || type == .url || isNested
    case .array, .object: isNested
    case .date: type == .date || type == .document
    case .uuid: type == .uuid || type == .document
    case .decimal: type == .decimal || type == .document
    case .data: type == .data || type == .document
    case .null: true
    }
  }
}

extension Document {
  /// The elements of a member that is an array; empty for any other value.
  fileprivate func elements(_ name: String) -> [Document] {
    if case .array(let elements)? = self[name] { elements } else { [] }
  }
}
