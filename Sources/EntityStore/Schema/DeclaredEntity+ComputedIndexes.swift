internal import LodestoreFormat

extension DeclaredEntity {
  /// The declaration of one computed index, by the positions of its attributes in
  /// ``DeclaredEntity/attributes``.
  struct ComputedIndex: Sendable, Hashable {
    struct Source: Sendable, Hashable {
      var attribute: Int
      var path: [String] = []
      var weight: UInt32 = 1
    }

    var kind: EntityDescription.ComputedIndex.Kind
    var sources: [Source]
    var admitsInvalid = false
    var dimensions = 0

    /// The index with the numbers of its attributes in the file.
    func described(number: UInt32, _ numbers: [UInt32]) -> EntityDescription.ComputedIndex {
      .init(
        number: number, kind: kind,
        sources: sources.map {
          .init(attribute: numbers[$0.attribute], path: $0.path, weight: $0.weight)
        }, admitsInvalid: admitsInvalid, dimensions: dimensions)
    }
  }

  /// Adds a computed index, unless the same one is there.
  mutating func add(_ index: ComputedIndex) throws(StoreError) {
    guard !index.sources.isEmpty,
      index.sources.count <= EntityDescription.ComputedIndex.mostSources,
      Set(index.sources.map { [attributes[$0.attribute].name] + $0.path }).count
        == index.sources.count
    else {
      throw StoreError.badSchema(
        entity: name,
        "a computed index names an attribute twice, or \(index.sources.count) attributes; it takes "
          + "1 to \(EntityDescription.ComputedIndex.mostSources)")
    }
    guard index.kind != .place || index.sources.count == 2 else {
      throw StoreError.badSchema(
        entity: name,
        "a place index names \(index.sources.count) attributes; it takes a latitude and a longitude"
      )
    }
    let dimensions = 1...VectorForm.mostDimensions
    guard index.kind != .vector || dimensions.contains(index.dimensions) else {
      throw StoreError.badSchema(
        entity: name,
        "a vector index is declared with \(index.dimensions) dimensions; it takes "
          + "1 to \(VectorForm.mostDimensions)")
    }
    for source in index.sources {
      let attribute = attributes[source.attribute]
      guard index.kind.takes(attribute.storage.type, at: source.path) else {
        let noun =
          switch index.kind {
          case .elements: "elements"
          case .search: "texts"
          case .place: "numbers of degrees"
          case .vector: "vectors"
          }
        let path = ([attribute.name] + source.path).joined(separator: ".")
        throw StoreError.badSchema(
          entity: name, attribute: attribute.name,
          "'\(path)' has no \(noun) to be indexed: it is stored as a \(attribute.storage.type.name)"
            + (index.kind == .vector ? "; declare an attribute of the type Vector" : ""))
      }
    }
    if !computedIndexes.contains(index) { computedIndexes.append(index) }
  }
}
