// The catalogue's document of an entity, for reading and writing. See Format.md, "Catalogue".

extension EntityDescription {
  /// The description as a document.
  package var document: Document {
    var members: [String: Document] = [
      "name": .string(name), "layout": .integer(Int64(currentLayout)),
      "attributes": .array(attributes.map(document)), "layouts": .array(layouts.map(document)),
      "indexes": .array(indexes.map(document)),
    ]
    if !building.isEmpty { members["building"] = .array(building.map(document)) }
    for kind in ComputedIndex.Kind.allCases {
      let indexes = computedIndexes.filter { $0.kind == kind && !$0.isBuilding }
      if !indexes.isEmpty { members[kind.member] = .array(indexes.map(document)) }
    }
    let begun = buildingComputed
    if !begun.isEmpty { members["buildingComputed"] = .array(begun.map(document)) }
    if !rules.isEmpty { members["rules"] = .array(rules.map(document)) }
    members["history"] = history.map { history in
      object(
        .history,
        ["images": .bool(history.keepsImages), "preserved": .numbers(history.preserved)])
    }
    members["expires"] = expiry.map {
      object(.expiry, ["attribute": .integer(Int64($0.attribute))])
    }
    members["limit"] = limit.map(document)
    return object(.entity, members)
  }

  /// An object with these members and with the preserved members of a later version.
  private func object(_ object: CatalogueObject, _ members: [String: Document]) -> Document {
    .object(members.merging(unknownMembers[object]) { known, _ in known })
  }

  private func document(of attribute: Attribute) -> Document {
    var members: [String: Document] = [
      "number": .integer(Int64(attribute.number)), "name": .string(attribute.name),
      "type": .string(attribute.type.name), "optional": .bool(attribute.isOptional),
    ]
    // A renamed attribute may now have its source's name. The source is then left out.
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

  private func document(of layout: RecordLayout) -> Document {
    let attributes = layout.attributes.map { attribute in
      object(
        .layoutAttribute(layout: layout.number, attribute: attribute.number),
        [
          "number": .integer(Int64(attribute.number)), "type": .string(attribute.type.name),
          "optional": .bool(attribute.isOptional),
        ])
    }
    return object(
      .layout(layout.number),
      ["number": .integer(Int64(layout.number)), "attributes": .array(attributes)])
  }

  private func document(of index: Index) -> Document {
    object(
      .index(index.number),
      [
        "number": .integer(Int64(index.number)), "attributes": .numbers(index.attributes),
        "unique": .bool(index.isUnique),
      ])
  }

  private func document(of index: ComputedIndex) -> Document {
    var members: [String: Document] = ["number": .integer(Int64(index.number))]
    if index.isBuilding { members["kind"] = .string(index.kind.rawValue) }
    switch index.kind {
    case .elements:
      members["attribute"] = .integer(Int64(index.attribute))
      members["path"] = .texts(index.path)
    case .search:
      members["analysis"] = .integer(1)
      if index.hasPackedPostings { members["postings"] = .integer(2) }
      members["sources"] = sources(of: index)
    case .place:
      members["admitsInvalid"] = .bool(index.admitsInvalid)
      members["sources"] = sources(of: index)
    case .vector:
      members["attribute"] = .integer(Int64(index.attribute))
      members["dimensions"] = .integer(Int64(index.dimensions))
    }
    return object(.computedIndex(index.kind, index.number), members)
  }

  private func sources(of index: ComputedIndex) -> Document {
    .array(
      index.sources.map { source in
        var members: [String: Document] = [
          "attribute": .integer(Int64(source.attribute)), "path": .texts(source.path),
        ]
        if index.kind == .search { members["weight"] = .integer(Int64(source.weight)) }
        return object(
          .indexSource(index.number, attribute: source.attribute, path: source.path), members)
      })
  }

  private func document(of rule: Rule) -> Document {
    object(.rule(rule.name), ["name": .string(rule.name), "condition": .string(rule.condition)])
  }

  private func document(of limit: Limit) -> Document {
    var members: [String: Document] = [:]
    members["count"] = limit.count.map { .integer(Int64($0)) }
    members["bytes"] = limit.byteCount.map { .integer(Int64($0)) }
    members["attribute"] = limit.attribute.map { .integer(Int64($0)) }
    return object(.limit, members)
  }
}

// MARK: - Reading

extension EntityDescription {
  /// Reads entity `number` from its document and checks every rule of Format.md, "Catalogue".
  package init(number: EntityNumber, document: Document) throws(FormatError) {
    guard case .object = document else {
      throw FormatError("the description of entity \(number) is not an object", .catalogueMembers)
    }
    var object = CatalogueReader(document)
    self.number = number
    name = try object.text("name")
    currentLayout = try object.integer("layout", upTo: RecordLayout.highestNumber)
    attributes = try object.list(
      "attributes", as: { .attribute($0.number) }, Attribute.init(reading:))
    layouts = try object.list("layouts", as: { .layout($0.number) }, Self.layout)
    indexes = try object.list("indexes", as: { .index($0.number) }, Index.init(reading:))
    building = try object.optionalList("building", as: { .index($0.number) }, Index.init(reading:))
    for kind in ComputedIndex.Kind.allCases {
      computedIndexes += try object.optionalList(
        kind.member, as: { .computedIndex(kind, $0.number) }
      ) { (object) throws(FormatError) in try ComputedIndex(reading: &object, as: kind) }
    }
    computedIndexes += try object.optionalList(
      "buildingComputed", as: { .computedIndex($0.kind, $0.number) }
    ) { (object) throws(FormatError) in
      let name = try object.text("kind")
      guard let kind = ComputedIndex.Kind(rawValue: name) else {
        throw FormatError(
          "the kind '\(name)' of an index is not known to this version of the format",
          .catalogueBuildingComputed)
      }
      var index = try ComputedIndex(reading: &object, as: kind)
      index.isBuilding = true
      return index
    }
    rules = try object.optionalList("rules", as: { .rule($0.name) }, Rule.init(reading:))
    history = try object.optional("history", as: .history, History.init(reading:))
    expiry = try object.optional("expires", as: .expiry, Expiry.init(reading:))
    limit = try object.optional("limit", as: .limit, Limit.init(reading:))
    unknownMembers = object.unknown
    unknownMembers[.entity] = object.rest
    try check()
  }

  private static func layout(_ object: inout CatalogueReader) throws(FormatError) -> RecordLayout {
    let number = try object.integer("number", upTo: RecordLayout.highestNumber)
    var numbers: Set<UInt32> = []
    let attributes: [RecordLayout.Attribute] = try object.list(
      "attributes", as: { .layoutAttribute(layout: number, attribute: $0.number) }
    ) { (member) throws(FormatError) in
      let isOptional = try member.flag("optional", of: "an attribute of layout \(number)")
      let attribute = try member.attribute("number")
      guard numbers.insert(attribute).inserted else {
        throw FormatError("layout \(number) has attribute \(attribute) twice", .catalogueLayout)
      }
      return .init(number: attribute, type: try member.type(), isOptional: isOptional)
    }
    return RecordLayout(number: number, attributes: attributes)
  }
}

extension CatalogueReader {
  fileprivate mutating func type() throws(FormatError) -> AttributeType {
    let name = try text("type")
    guard let type = AttributeType(name: name) else {
      throw FormatError(
        "attribute type '\(name)' is not known to this version of the format", .catalogueType)
    }
    return type
  }
}

extension EntityDescription.Attribute {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    let isOptional = try object.flag("optional", of: "an attribute")
    let type = try object.type()
    self.init(
      number: try object.attribute("number"), name: try object.text("name"), type: type,
      isOptional: isOptional)
    if let source = object.take("source") {
      guard let text = source.text, text.utf8.count <= EntityDescription.longestSource, text != name
      else {
        throw FormatError(
          "the 'source' of attribute '\(name)' is no text of at most "
            + "\(EntityDescription.longestSource) bytes that differs from its name",
          .catalogueSource)
      }
      self.source = text
    }
    shape = object.take("shape")?.text
    if let members = object.take("members") {
      try require(
        type == .document, "attribute '\(name)' has 'members' and is no document",
        .catalogueDocumentMembers)
      self.members = try DocumentOutline(members)
    }
    // Null means that there is no initial value, except for a required JSON attribute, where it is
    // JSON's null.
    if let initial = object.take("initial"), initial != .null || !isOptional && type.isDocument {
      self.initial = EntityDescription.value(of: initial, for: type)
      try require(
        self.initial.fits(type), "the initial value of attribute '\(name)' is no \(type.name)",
        .catalogueInitial)
    }
    if let element = object.take("default") {
      let value = element == .null ? Value.null : EntityDescription.value(of: element, for: type)
      try require(
        value == .null ? element == .null : value.fits(type),
        "the default value of attribute '\(name)' is no \(type.name)", .catalogueDefault)
      changedDefault = value
    }
    constraints = try AttributeConstraints(reading: &object, of: name, type)
    let attribute = name
    derivation = try object.optional("derived", as: .derivation(number)) {
      (derived) throws(FormatError) in try DerivationDescription(reading: &derived, of: attribute)
    }
    if case .bool(true) = object.take("removed") { isRemoved = true }
  }
}

extension EntityDescription.Index {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    let isUnique = try object.flag("unique", of: "an index")
    guard let attributes = try object.array("attributes").numbers else {
      throw FormatError(
        "an index names an attribute by something that is not a number", .catalogueMembers)
    }
    self.init(number: try object.integer("number"), attributes: attributes, isUnique: isUnique)
  }
}

extension EntityDescription.ComputedIndex.Kind {
  /// The member of an entity's object with the indexes of this kind.
  fileprivate var member: String {
    switch self {
    case .elements: "elementIndexes"
    case .search: "searchIndexes"
    case .place: "placeIndexes"
    case .vector: "vectorIndexes"
    }
  }

  /// The rule that the objects of these indexes follow.
  var rule: FormatRule {
    switch self {
    case .elements: .catalogueElementIndex
    case .search: .catalogueSearchIndex
    case .place: .cataloguePlaceIndex
    case .vector: .catalogueVectorIndex
    }
  }
}

extension EntityDescription.ComputedIndex {
  fileprivate init(
    reading object: inout CatalogueReader, as kind: Kind
  ) throws(FormatError) {
    self.init(number: try object.integer("number"), kind: kind, sources: [])
    switch kind {
    case .elements: sources = [try Source(reading: &object, of: kind)]
    case .search:
      let analysis: UInt32 = try object.integer("analysis")
      try require(
        analysis == 1, "analysis \(analysis) is not known to this version of the format", kind.rule)
      let form: UInt32? = try object.optionalInteger("postings")
      try require(
        form == nil || form == 2,
        "form \(form ?? 0) of postings is not known to this version of the format", kind.rule)
      hasPackedPostings = form != nil
      sources = try self.sources(reading: &object)
    case .place:
      admitsInvalid = try object.flag("admitsInvalid", of: "a place index", kind.rule)
      sources = try self.sources(reading: &object)
    case .vector:
      sources = [Source(attribute: try object.attribute("attribute"))]
      dimensions = try object.integer("dimensions")
    }
  }

  private func sources(reading object: inout CatalogueReader) throws(FormatError) -> [Source] {
    try object.list(
      "sources", as: { .indexSource(number, attribute: $0.attribute, path: $0.path) }
    ) { (source) throws(FormatError) in
      var result = try Source(reading: &source, of: kind)
      if kind == .search { result.weight = try source.integer("weight") }
      return result
    }
  }
}

extension EntityDescription.ComputedIndex.Source {
  fileprivate init(
    reading object: inout CatalogueReader, of kind: EntityDescription.ComputedIndex.Kind
  ) throws(FormatError) {
    guard let path = try object.array("path").texts,
      path.count <= DerivationDescription.longestPath
    else { throw FormatError("a computed index has a path that is none", kind.rule) }
    self.init(attribute: try object.attribute("attribute"), path: path)
  }
}

extension EntityDescription.Rule {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    self.init(name: try object.text("name"), condition: try object.text("condition"))
  }
}

extension EntityDescription.History {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    let keepsImages = try object.flag("images", of: "'history'", .catalogueHistory)
    guard let preserved = try object.array("preserved").ascendingNumbers else {
      throw FormatError(
        "'preserved' does not have ascending numbers of attributes", .catalogueHistory)
    }
    self.init(keepsImages: keepsImages, preserved: preserved)
  }
}

extension EntityDescription.Expiry {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    self.init(attribute: try object.attribute("attribute"))
  }
}

extension EntityDescription.Limit {
  fileprivate init(reading object: inout CatalogueReader) throws(FormatError) {
    self.init(
      count: try object.optionalInteger("count"), byteCount: try object.optionalInteger("bytes"),
      attribute: try object.optionalInteger(
        "attribute", upTo: EntityDescription.highestAttributeNumber))
  }
}
