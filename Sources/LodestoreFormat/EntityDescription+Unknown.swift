// Members of later versions, at every level of the description. See Format.md, "Catalogue".

extension EntityDescription {
  private static let ofEntity: Set = [
    "name", "layout", "attributes", "layouts", "indexes", "building", "elementIndexes",
    "rules", "history", "expires", "limit",
  ]
  private static let ofAttribute: Set = [
    "number", "name", "source", "type", "optional", "shape", "members", "initial", "default",
    "removed", "derived",
    "minimum", "maximum", "minLength", "maxLength", "pattern",
  ]
  private static let ofLayout: Set = ["number", "attributes"]
  private static let ofLayoutAttribute: Set = ["number", "type", "optional"]
  private static let ofIndex: Set = ["number", "attributes", "unique"]
  private static let ofElementIndex: Set = ["number", "attribute", "path"]
  private static let ofRule: Set = ["name", "condition"]
  private static let ofHistory: Set = ["images", "preserved"]
  private static let ofExpiry: Set = ["attribute"]
  private static let ofLimit: Set = ["count", "bytes", "attribute"]

  /// Takes the unknown members of `document`, from which the rest has been read.
  mutating func collectUnknown(in document: Document) {
    func elements(_ member: String, of document: Document) -> [Document] {
      if case .array(let elements)? = document[member] { elements } else { [] }
    }
    unknownMembers.collect(document, .entity, Self.ofEntity)
    for (attribute, element) in zip(attributes, elements("attributes", of: document)) {
      unknownMembers.collect(element, .attribute(attribute.number), Self.ofAttribute)
      if let derived = element["derived"] {
        unknownMembers.collect(
          derived, .derivation(attribute.number), DerivationDescription.knownMembers)
      }
    }
    for (layout, element) in zip(layouts, elements("layouts", of: document)) {
      unknownMembers.collect(element, .layout(layout.number), Self.ofLayout)
      for (attribute, stored) in zip(layout.attributes, elements("attributes", of: element)) {
        unknownMembers.collect(
          stored, .layoutAttribute(layout: layout.number, attribute: attribute.number),
          Self.ofLayoutAttribute)
      }
    }
    for (index, element) in zip(indexes, elements("indexes", of: document)) {
      unknownMembers.collect(element, .index(index.number), Self.ofIndex)
    }
    for (index, element) in zip(building, elements("building", of: document)) {
      unknownMembers.collect(element, .index(index.number), Self.ofIndex)
    }
    for (index, element) in zip(elementIndexes, elements("elementIndexes", of: document)) {
      unknownMembers.collect(element, .elementIndex(index.number), Self.ofElementIndex)
    }
    for (rule, element) in zip(rules, elements("rules", of: document)) {
      unknownMembers.collect(element, .rule(rule.name), Self.ofRule)
    }
    if let element = document["history"] {
      unknownMembers.collect(element, .history, Self.ofHistory)
    }
    if let element = document["expires"] {
      unknownMembers.collect(element, .expiry, Self.ofExpiry)
    }
    if let element = document["limit"] {
      unknownMembers.collect(element, .limit, Self.ofLimit)
    }
  }
}
