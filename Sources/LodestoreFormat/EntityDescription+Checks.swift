// Checks of the rules of Format.md, "Catalogue", that span members.

extension EntityDescription {
  /// Checks the rules that span members.
  func check() throws(FormatError) {
    try require(Self.isValidName(name), "'\(name)' is not an entity name", .catalogueEntityName)
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
      try require(
        numbers.insert(attribute.number).inserted,
        "entity '\(name)' has attribute number \(attribute.number) twice",
        .catalogueAttributeNumber)
      try require(
        attribute.isRemoved || names.insert(attribute.name).inserted,
        "entity '\(name)' has attribute '\(attribute.name)' twice", .catalogueAttributeNameOnce)
      if let source = attribute.source, !attribute.isRemoved, !sources.insert(source).inserted {
        throw FormatError(
          "entity '\(name)' has two attributes with the source '\(source)'", .catalogueSource)
      }
    }
    try checkDerivations()
    try checkComputedIndexes()
    if let number = history?.preserved.first(where: { attribute(number: $0) == nil }) {
      throw FormatError(
        "'preserved' has attribute \(number), which entity '\(name)' does not have",
        .catalogueHistory)
    }
    var layoutNumbers: Set<UInt16> = []
    for layout in layouts {
      try require(
        layoutNumbers.insert(layout.number).inserted,
        "entity '\(name)' has layout \(layout.number) twice", .catalogueLayoutOrder)
      for stored in layout.attributes {
        guard let attribute = attribute(number: stored.number), attribute.type == stored.type else {
          throw FormatError(
            "layout \(layout.number) has attribute \(stored.number), not described with its type",
            .catalogueLayout)
        }
      }
    }
    let live = attributes.filter { !$0.isRemoved }.map(\.number)
    try require(
      Set(layout.attributes.map(\.number)) == Set(live),
      "layout \(currentLayout) does not have exactly the declared attributes",
      .catalogueCurrentLayout)
    var indexNumbers: Set<UInt32> = []
    for (position, index) in (indexes + building).enumerated() {
      guard Set(index.attributes).count == index.attributes.count else {
        throw FormatError("index \(index.number) has an attribute twice", .catalogueIndex)
      }
      try require(
        !index.attributes.isEmpty, "index \(index.number) has no attributes", .catalogueIndex)
      try require(
        indexNumbers.insert(index.number).inserted,
        "entity '\(name)' has index \(index.number) twice",
        position < indexes.count ? .catalogueIndex : .catalogueBuilding)
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

  private func checkComputedIndexes() throws(FormatError) {
    var numbers: Set<UInt32> = []
    for index in computedIndexes {
      try require(
        numbers.insert(index.number).inserted,
        "the computed index \(index.number) is there twice", index.kind.rule)
      try require(
        !index.sources.isEmpty && index.sources.count <= ComputedIndex.mostSources
          && Set(index.sources.map { [String($0.attribute)] + $0.path }).count
            == index.sources.count,
        "the computed index \(index.number) has no sources, too many, or one twice",
        index.kind.rule)
      try require(
        index.kind != .place || index.sources.count == 2,
        "the place index \(index.number) has not two sources", index.kind.rule)
      try require(
        index.kind != .vector || (1...VectorForm.mostDimensions).contains(index.dimensions),
        "the vector index \(index.number) has \(index.dimensions) dimensions", index.kind.rule)
      for source in index.sources {
        guard let attribute = attribute(number: source.attribute), !attribute.isRemoved,
          index.kind.takes(attribute.type, at: source.path)
        else {
          throw FormatError(
            "the computed index \(index.number) has an attribute of a type that its kind lacks",
            index.kind.rule)
        }
        try require(
          (1...ComputedIndex.highestWeight).contains(source.weight),
          "the weight \(source.weight) is not from 1 to \(ComputedIndex.highestWeight)",
          index.kind.rule)
      }
    }
  }

  /// Checks attributes derived from the record alone.
  private func checkDerivations() throws(FormatError) {
    for attribute in attributes where !attribute.isRemoved {
      guard let derivation = attribute.derivation, !derivation.kind.isOfRelated else { continue }
      let source = derivation.source.flatMap { self.attribute(number: $0) }
      try require(
        source?.isRemoved != true && source?.derivation == nil
          && (source == nil) == (derivation.source == nil),
        "attribute '\(attribute.name)' is derived from one that is not there, or derived itself",
        .derivedSource)
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

extension EntityDescription.ComputedIndex {
  /// The maximum number of sources of an index.
  package static let mostSources = 16
  /// The maximum weight of a source.
  package static let highestWeight: UInt32 = 100
}

extension EntityDescription.ComputedIndex.Kind {
  /// Whether an index of this kind can be on values at `path` of an attribute.
  package func takes(_ type: AttributeType, at path: [String]) -> Bool {
    switch self {
    case .elements: type.isDocument
    case .search: type.isDocument || type == .string && path.isEmpty
    case .place: path.isEmpty ? type.isNumber : type.isDocument
    case .vector: type == .data && path.isEmpty
    }
  }
}
