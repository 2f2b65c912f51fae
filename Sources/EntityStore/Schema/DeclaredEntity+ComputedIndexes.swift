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

    /// The index with the numbers of its attributes in the file.
    func described(number: UInt32, _ numbers: [UInt32]) -> EntityDescription.ComputedIndex {
      .init(
        number: number, kind: kind,
        sources: sources.map {
          .init(attribute: numbers[$0.attribute], path: $0.path, weight: $0.weight)
        })
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
        "a search index names an attribute twice, or \(index.sources.count) attributes; it takes "
          + "1 to \(EntityDescription.ComputedIndex.mostSources)")
    }
    for source in index.sources {
      let attribute = attributes[source.attribute]
      guard index.kind.takes(attribute.storage.type, at: source.path) else {
        let noun = index.kind == .elements ? "elements" : "texts"
        let path = ([attribute.name] + source.path).joined(separator: ".")
        throw StoreError.badSchema(
          entity: name, attribute: attribute.name,
          "'\(path)' has no \(noun) to be indexed: it is stored as a \(attribute.storage.type.name)"
        )
      }
    }
    if !computedIndexes.contains(index) { computedIndexes.append(index) }
  }
}
