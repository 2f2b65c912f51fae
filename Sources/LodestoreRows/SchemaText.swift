package import EntityStore
package import LodestoreFormat

// Parts of a schema as texts.

extension DynamicIndex {
  /// The name in the form `name+version (unique)`.
  package var title: String { shortName + (isUnique ? " (unique)" : "") }
}

extension DynamicEntity {
  /// The names of the indexes that have the attribute: `name+version (unique)`, `tags[]`.
  package func indexNames(of attribute: EntityDescription.Attribute) -> [String] {
    indexes.filter { $0.description.attributes.contains(attribute.number) }.map(\.title)
      + description.distinctComputedIndexes.filter { index in
        index.sources.contains { $0.attribute == attribute.number }
      }
      .map(description.indexName)
  }
}

extension EntityDescription {
  /// The name of a source of a search index: `name`, `authors.name`.
  package func name(of source: ComputedIndex.Source) -> String {
    ([attribute(number: source.attribute)?.name ?? "\(source.attribute)"] + source.path)
      .joined(separator: ".")
  }

  /// The texts of a search index with their weights: `name (weight 3), summary (weight 1)`.
  package func sourcesText(of index: ComputedIndex) -> String {
    index.sources.map { "\(name(of: $0)) (weight \($0.weight))" }.joined(separator: ", ")
  }
}

extension AttributeConstraints {
  /// The constraints in the form of declarations: `0...5`, `length 1...200`, `pattern [a-z]+`;
  /// `nil` for none.
  package var text: String? {
    var parts: [String] = []
    if hasRange {
      let bounds = [minimum, maximum].map { $0 == .null ? "" : KeyText.text(of: $0) }
      parts.append(bounds.joined(separator: "..."))
    }
    if hasLength {
      let limits = [minLength, maxLength].map { $0.map { "\($0)" } ?? "" }
      parts.append("length " + limits.joined(separator: "..."))
    }
    if let pattern { parts.append("pattern \(pattern)") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
