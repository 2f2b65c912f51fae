// The catalogue's document, both ways. See Format.md, "Catalogue".

extension EntityDescription {
  /// The description as a document.
  package var document: Document {
    var members: [String: Document] = [
      "name": .string(name),
      "layout": .integer(Int64(currentLayout)),
      "attributes": .array(attributes.map(document)),
      "layouts": .array(layouts.map(document)),
      "indexes": .array(indexes.map(document)),
    ]
    if !building.isEmpty { members["building"] = .array(building.map(document)) }
    if !elementIndexes.isEmpty {
      members["elementIndexes"] = .array(
        elementIndexes.map { index in
          object(
            .elementIndex(index.number),
            [
              "number": .integer(Int64(index.number)),
              "attribute": .integer(Int64(index.attribute)),
              "path": .array(index.path.map { .string($0) }),
            ])
        })
    }
    if !rules.isEmpty {
      members["rules"] = .array(
        rules.map { rule in
          object(
            .rule(rule.name), ["name": .string(rule.name), "condition": .string(rule.condition)])
        })
    }
    if let history {
      members["history"] = object(
        .history,
        [
          "images": .bool(history.keepsImages),
          "preserved": .array(history.preserved.map { .integer(Int64($0)) }),
        ])
    }
    if let expiry {
      members["expires"] = object(.expiry, ["attribute": .integer(Int64(expiry.attribute))])
    }
    if let limit { members["limit"] = document(of: limit) }
    return object(.entity, members)
  }

  /// The object with these members, and those that it has of a later version.
  func object(_ object: CatalogueObject, _ members: [String: Document]) -> Document {
    .object(members.merging(unknownMembers[object]) { known, _ in known })
  }

  private func document(of attribute: Attribute) -> Document {
    var members: [String: Document] = [
      "number": .integer(Int64(attribute.number)),
      "name": .string(attribute.name),
      "type": .string(attribute.type.name),
      "optional": .bool(attribute.isOptional),
    ]
    // A renamed attribute may have come to the name of its member, which then goes without saying.
    if let source = attribute.source, source != attribute.name {
      members["source"] = .string(source)
    }
    if let shape = attribute.shape { members["shape"] = .string(shape) }
    if let outline = attribute.members { members["members"] = outline.document }
    if attribute.initial != .null { members["initial"] = Self.document(of: attribute.initial) }
    if let value = attribute.changedDefault { members["default"] = Self.document(of: value) }
    members.merge(attribute.constraints.members) { _, constraint in constraint }
    if let derivation = attribute.derivation {
      members["derived"] = object(.derivation(attribute.number), derivation.members)
    }
    if attribute.isRemoved { members["removed"] = .bool(true) }
    return object(.attribute(attribute.number), members)
  }

  private func document(of index: Index) -> Document {
    object(
      .index(index.number),
      [
        "number": .integer(Int64(index.number)),
        "attributes": .array(index.attributes.map { .integer(Int64($0)) }),
        "unique": .bool(index.isUnique),
      ])
  }

  private func document(of layout: RecordLayout) -> Document {
    object(
      .layout(layout.number),
      [
        "number": .integer(Int64(layout.number)),
        "attributes": .array(
          layout.attributes.map { attribute in
            object(
              .layoutAttribute(layout: layout.number, attribute: attribute.number),
              [
                "number": .integer(Int64(attribute.number)),
                "type": .string(attribute.type.name),
                "optional": .bool(attribute.isOptional),
              ])
          }),
      ])
  }

  package static func document(of value: Value) -> Document {
    switch value {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .date(let seconds): .date(seconds)
    case .uuid(let uuid): .uuid(uuid)
    case .decimal(let decimal): .decimal(decimal)
    case .string(let text): .string(text)
    case .data(let bytes): .data(bytes)
    case .document(let bytes):
      (try? bytes.withUnsafeBytes { raw in try Document(decoding: raw) }) ?? .null
    }
  }

  package static func value(of document: Document, for type: AttributeType) -> Value {
    if type == .json || type == .document { return .document(document.encoded()) }
    switch document {
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .unsigned(let number): return .unsigned(number)
    case .double(let number): return .double(number)
    case .date(let seconds): return .date(seconds)
    case .uuid(let uuid): return .uuid(uuid)
    case .decimal(let decimal): return .decimal(decimal)
    case .string(let text): return .string(text)
    case .data(let bytes): return .data(bytes)
    case .null, .array, .object: return .null
    }
  }

  /// Reads entity `number` from its document and checks every rule of Format.md, "Catalogue".
  package init(number: EntityNumber, document: Document) throws(FormatError) {
    guard case .object = document else {
      throw FormatError("the description of entity \(number) is not an object", .catalogueMembers)
    }
    name = try Self.text("name", in: document)
    currentLayout = UInt16(
      try Self.integer("layout", in: document, upTo: Int64(RecordLayout.highestNumber)))
    attributes = []
    for element in try Self.array("attributes", in: document) {
      attributes.append(try Self.attribute(element))
    }
    layouts = []
    for element in try Self.array("layouts", in: document) {
      layouts.append(try Self.layout(element))
    }
    indexes = try Self.array("indexes", in: document).map(Self.index)
    building =
      document["building"] == nil ? [] : try Self.array("building", in: document).map(Self.index)
    elementIndexes = []
    if document["elementIndexes"] != nil {
      for element in try Self.array("elementIndexes", in: document) {
        elementIndexes.append(try Self.elementIndex(element))
      }
    }
    rules = []
    if document["rules"] != nil {
      for rule in try Self.array("rules", in: document) {
        rules.append(
          Rule(
            name: try Self.text("name", in: rule), condition: try Self.text("condition", in: rule)))
      }
    }
    history = nil
    if let history = document["history"] { self.history = try Self.history(history) }
    expiry = nil
    if let expires = document["expires"] {
      expiry = Expiry(
        attribute: UInt32(
          try Self.integer("attribute", in: expires, upTo: Int64(Self.highestAttributeNumber))))
    }
    limit = nil
    if let element = document["limit"] { limit = try Self.limit(element) }
    self.number = number
    try check()
    collectUnknown(in: document)
  }

  private static func index(_ element: Document) throws(FormatError) -> Index {
    guard case .bool(let isUnique) = element["unique"] else {
      throw FormatError("an index has no boolean 'unique'", .catalogueMembers)
    }
    var numbers: [UInt32] = []
    for attribute in try array("attributes", in: element) {
      guard case .integer(let value) = attribute, let number = UInt32(exactly: value) else {
        throw FormatError(
          "an index names an attribute by something that is not a number", .catalogueMembers)
      }
      numbers.append(number)
    }
    return Index(
      number: UInt32(try integer("number", in: element)), attributes: numbers, isUnique: isUnique)
  }

  private static func history(_ element: Document) throws(FormatError) -> History {
    guard case .bool(let keepsImages) = element["images"] else {
      throw FormatError("'history' has no boolean 'images'", .catalogueHistory)
    }
    var history = History(keepsImages: keepsImages)
    for attribute in try array("preserved", in: element) {
      guard case .integer(let value) = attribute, let number = UInt32(exactly: value),
        history.preserved.last.map({ $0 < number }) ?? true
      else {
        throw FormatError(
          "'preserved' does not have ascending numbers of attributes", .catalogueHistory)
      }
      history.preserved.append(number)
    }
    return history
  }

  private static func elementIndex(_ element: Document) throws(FormatError) -> ElementIndex {
    var path: [String] = []
    for name in try array("path", in: element) {
      guard case .string(let name) = name, path.count < DerivationDescription.longestPath else {
        throw FormatError("an index over elements has a path that is none", .catalogueElementIndex)
      }
      path.append(name)
    }
    return ElementIndex(
      number: UInt32(try integer("number", in: element)),
      attribute: UInt32(try integer("attribute", in: element, upTo: Int64(highestAttributeNumber))),
      path: path)
  }

  private static func attribute(_ element: Document) throws(FormatError) -> Attribute {
    guard case .bool(let isOptional) = element["optional"] else {
      throw FormatError("an attribute has no boolean 'optional'", .catalogueMembers)
    }
    let type = try type(of: element)
    var attribute = Attribute(
      number: UInt32(try integer("number", in: element, upTo: Int64(highestAttributeNumber))),
      name: try text("name", in: element),
      type: type, isOptional: isOptional)
    if let source = element["source"] {
      guard case .string(let text) = source, text.utf8.count <= longestSource,
        text != attribute.name
      else {
        throw FormatError(
          "the 'source' of attribute '\(attribute.name)' is no text of at most \(longestSource) bytes "
            + "that differs from its name", .catalogueSource)
      }
      attribute.source = text
    }
    if case .string(let shape) = element["shape"] { attribute.shape = shape }
    if let members = element["members"] {
      guard type == .document else {
        throw FormatError(
          "attribute '\(attribute.name)' has 'members' and is no document",
          .catalogueDocumentMembers)
      }
      attribute.members = try DocumentOutline(members)
    }
    // Null is no initial value, unless it is the JSON value of a required attribute.
    if let initial = element["initial"], initial != .null || !isOptional && type.isDocument {
      attribute.initial = value(of: initial, for: type)
      guard attribute.initial.fits(type) else {
        throw FormatError(
          "the initial value of attribute '\(attribute.name)' is no \(type.name)", .catalogueInitial
        )
      }
    }
    if let element = element["default"] {
      let value = element == .null ? Value.null : value(of: element, for: type)
      guard value == .null ? element == .null : value.fits(type) else {
        throw FormatError(
          "the default value of attribute '\(attribute.name)' is no \(type.name)",
          .catalogueDefault)
      }
      attribute.changedDefault = value
    }
    attribute.constraints = try AttributeConstraints(element, of: attribute.name, type)
    if let derived = element["derived"] {
      attribute.derivation = try DerivationDescription(derived, of: attribute.name)
    }
    if case .bool(true) = element["removed"] { attribute.isRemoved = true }
    return attribute
  }

  private static func layout(_ element: Document) throws(FormatError) -> RecordLayout {
    let number = try integer("number", in: element, upTo: Int64(RecordLayout.highestNumber))
    var attributes: [RecordLayout.Attribute] = []
    for member in try array("attributes", in: element) {
      guard case .bool(let isOptional) = member["optional"] else {
        throw FormatError(
          "an attribute of layout \(number) has no boolean 'optional'", .catalogueMembers)
      }
      let attribute = UInt32(try integer("number", in: member, upTo: Int64(highestAttributeNumber)))
      guard !attributes.contains(where: { $0.number == attribute }) else {
        throw FormatError("layout \(number) has attribute \(attribute) twice", .catalogueLayout)
      }
      attributes.append(
        .init(number: attribute, type: try type(of: member), isOptional: isOptional))
    }
    return RecordLayout(number: UInt16(number), attributes: attributes)
  }

  private static func type(of element: Document) throws(FormatError) -> AttributeType {
    let name = try text("type", in: element)
    guard let type = AttributeType(name: name) else {
      throw FormatError(
        "attribute type '\(name)' is not known to this version of the format", .catalogueType)
    }
    return type
  }

  private static func text(_ member: String, in element: Document) throws(FormatError) -> String {
    guard case .string(let text) = element[member] else {
      throw FormatError(
        "the catalogue has no text '\(member)' where one must be", .catalogueMembers)
    }
    return text
  }

  static func integer(
    _ member: String, in element: Document, upTo limit: Int64 = Int64(UInt32.max)
  ) throws(FormatError) -> Int64 {
    guard case .integer(let value) = element[member], (1...limit).contains(value) else {
      throw FormatError(
        "the catalogue has no '\(member)' from 1 to \(limit) where one must be", .catalogueMembers)
    }
    return value
  }

  private static func array(
    _ member: String, in element: Document
  ) throws(FormatError) -> [Document] {
    guard case .array(let elements) = element[member] else {
      throw FormatError(
        "the catalogue has no array '\(member)' where one must be", .catalogueMembers)
    }
    return elements
  }

  /// The rules that span members.
  private func check() throws(FormatError) {
    guard Self.isValidName(name) else {
      throw FormatError("'\(name)' is not an entity name", .catalogueEntityName)
    }
    guard layouts.contains(where: { $0.number == currentLayout }) else {
      throw FormatError("entity '\(name)' has no layout \(currentLayout)", .catalogueCurrentLayout)
    }
    var numbers: Set<UInt32> = []
    var names: Set<String> = []
    var sources: Set<String> = []
    for attribute in attributes {
      guard Self.isValidAttributeName(attribute.name) else {
        throw FormatError("'\(attribute.name)' is not an attribute name", .catalogueAttributeName)
      }
      guard numbers.insert(attribute.number).inserted else {
        throw FormatError(
          "entity '\(name)' has attribute number \(attribute.number) twice",
          .catalogueAttributeNumber)
      }
      guard attribute.isRemoved || names.insert(attribute.name).inserted else {
        throw FormatError(
          "entity '\(name)' has attribute '\(attribute.name)' twice", .catalogueAttributeNameOnce)
      }
      if let source = attribute.source, !attribute.isRemoved, !sources.insert(source).inserted {
        throw FormatError(
          "entity '\(name)' has two attributes with the source '\(source)'", .catalogueSource)
      }
    }
    try checkDerivations()
    try checkElementIndexes()
    if let number = history?.preserved.first(where: { attribute(number: $0) == nil }) {
      throw FormatError(
        "'preserved' has attribute \(number), which entity '\(name)' does not have",
        .catalogueHistory)
    }
    var layoutNumbers: Set<UInt16> = []
    for layout in layouts {
      guard layoutNumbers.insert(layout.number).inserted else {
        throw FormatError(
          "entity '\(name)' has layout \(layout.number) twice", .catalogueLayoutOrder)
      }
      for stored in layout.attributes {
        guard let attribute = attribute(number: stored.number), attribute.type == stored.type else {
          throw FormatError(
            "layout \(layout.number) has attribute \(stored.number), not described with its type",
            .catalogueLayout)
        }
      }
    }
    let live = attributes.filter { !$0.isRemoved }.map(\.number)
    guard Set(layout.attributes.map(\.number)) == Set(live) else {
      throw FormatError(
        "layout \(currentLayout) does not have exactly the declared attributes",
        .catalogueCurrentLayout)
    }
    var indexNumbers: Set<UInt32> = []
    for (position, index) in (indexes + building).enumerated() {
      guard Set(index.attributes).count == index.attributes.count else {
        throw FormatError("index \(index.number) has an attribute twice", .catalogueIndex)
      }
      guard !index.attributes.isEmpty else {
        throw FormatError("index \(index.number) has no attributes", .catalogueIndex)
      }
      guard indexNumbers.insert(index.number).inserted else {
        throw FormatError(
          "entity '\(name)' has index \(index.number) twice",
          position < indexes.count ? .catalogueIndex : .catalogueBuilding)
      }
      for number in index.attributes {
        guard let attribute = attribute(number: number), attribute.type.isIndexable,
          !attribute.isRemoved
        else {
          throw FormatError(
            "index \(index.number) has attribute \(number), not indexable", .catalogueIndex)
        }
      }
    }
    try checkExpiry()
    try checkLimit()
  }

  private func checkElementIndexes() throws(FormatError) {
    var numbers: Set<UInt32> = []
    for index in elementIndexes {
      guard numbers.insert(index.number).inserted,
        let attribute = attribute(number: index.attribute), !attribute.isRemoved,
        attribute.type == .json || attribute.type == .document
      else {
        throw FormatError(
          "the index over elements \(index.number) is there twice, or not of json or a document",
          .catalogueElementIndex)
      }
    }
  }

  /// Checks what is derived from the record alone.
  private func checkDerivations() throws(FormatError) {
    for attribute in attributes where !attribute.isRemoved {
      guard let derivation = attribute.derivation, !derivation.kind.isOfRelated else { continue }
      let source = derivation.source.flatMap { self.attribute(number: $0) }
      guard source?.isRemoved != true, source?.derivation == nil,
        (source == nil) == (derivation.source == nil)
      else {
        throw FormatError(
          "attribute '\(attribute.name)' is derived from one that is not there, or derived itself",
          .derivedSource)
      }
      if let fault = derivation.kind.fault(
        type: attribute.type, isOptional: attribute.isOptional,
        source: source.map { ($0.type, $0.isOptional) })
      {
        throw FormatError("the derived attribute '\(attribute.name)' \(fault)", .derivedAttribute)
      }
      guard derivation.part.map({ $0.part.type == attribute.type }) ?? true else {
        throw FormatError(
          "the derived attribute '\(attribute.name)' must be a date for a beginning, and an int64 for "
            + "other parts of a date", .derivedAttribute)
      }
    }
  }
}
