import LodestoreFormat

extension EntitySource {
  /// The static properties with the computed indexes, one for each kind.
  mutating func computedIndexes() -> [String] {
    var lines: [String] = []
    for (property, type, indexes) in [
      ("elementIndexes", "ElementIndex", description.elementIndexes),
      ("searchIndexes", "SearchIndex", description.searchIndexes),
      ("placeIndexes", "PlaceIndex", description.placeIndexes),
      ("vectorIndexes", "VectorIndex", description.vectorIndexes),
    ] {
      var declared: [String] = []
      for index in indexes {
        if let arguments = arguments(of: index) {
          declared.append("\(type)<\(name)>(\(arguments.joined(separator: ", ")))")
        } else {
          leaveOut(description.indexName(index), "the index has an attribute that is left out")
        }
      }
      if !declared.isEmpty {
        lines.append("  static let \(property) = [\(declared.joined(separator: ", "))]")
      }
    }
    return lines
  }

  /// The arguments of the declaration; `nil` if an attribute of the index is left out.
  private func arguments(of index: EntityDescription.ComputedIndex) -> [String]? {
    switch index.kind {
    case .elements: return path(index.attribute).map { [$0] + index.path.map(SwiftLiteral.text) }
    case .vector: return path(index.attribute).map { [$0, "dimensions: \(index.dimensions)"] }
    case .search, .place:
      let sources = index.sources.compactMap { source in
        path(source.attribute).map { path in
          let weight = source.weight == 1 ? [] : ["weight: \(source.weight)"]
          let parts = [path] + source.path.map(SwiftLiteral.text) + weight
          return ".init(\(parts.joined(separator: ", ")))"
        }
      }
      guard sources.count == index.sources.count else { return nil }
      return sources + (index.admitsInvalid ? ["invalid: .leftOut"] : [])
    }
  }
}
