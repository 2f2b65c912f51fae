import EntityStore
import LodestoreFormat

extension DynamicEntity {
  /// The indexes in words, for notes: `name+version (unique), date`.
  var indexList: String {
    let names =
      indexes.map(\.title)
      + description.computedIndexes.filter { !$0.isBuilding }.map(description.indexName)
      + description.buildingNames.map { $0 + " (being built)" }
    return names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  /// The index over exactly these attributes, or the index with this number.
  func index(named names: [String]) throws -> DynamicIndex {
    let parts = names.flatMap { $0.split(separator: "+").map(String.init) }
    let wanted = parts.joined(separator: "+")
    let matching = indexes.filter { $0.shortName == wanted }
    if let index = matching.first(where: \.isUnique) ?? matching.first { return index }
    if let number = UInt32(wanted),
      let index = indexes.first(where: { $0.description.number == number })
    {
      return index
    }
    if description.searchIndexes.map(description.indexName).contains(wanted) {
      throw CommandFailure.badArgument(
        wanted, reason: "is a search index, which has the words of texts",
        nextStep: "search for words, as by 'kvdump search'")
    }
    if description.placeIndexes.map(description.indexName).contains(wanted) {
      throw CommandFailure.badArgument(
        wanted, reason: "is a place index, which has cells of the earth",
        nextStep: "find records by a place, as by 'kvdump query --near 54.8,61.1,500km'")
    }
    if description.vectorIndexes.map(description.indexName).contains(wanted) {
      throw CommandFailure.badArgument(
        wanted, reason: "is a vector index, which has codes of vectors",
        nextStep: "find similar records by 'kvdump query --similar'")
    }
    if description.elementIndexes.map(description.indexName).contains(wanted) {
      throw CommandFailure.badArgument(
        wanted, reason: "is an index over elements, which has a record once for each of them",
        nextStep: "find records by an element, as by 'kvdump query' with a condition such as "
          + "'\"x\" IN \(wanted.prefix { $0 != "[" })'")
    }
    throw UnknownName(kind: .index, name: wanted, entity: name, known: indexes.map(\.shortName))
  }

  func attribute(_ name: String) throws -> EntityDescription.Attribute {
    if let attribute = description.attribute(named: name) { return attribute }
    throw UnknownName.attribute(name, of: self)
  }
}

/// Values typed by the user, converted according to the schema.
enum TypedValue {
  /// Converts a typed value to the type of an attribute.
  ///
  /// `null` is null, except for attributes with text, where it is a text.
  static func value(
    _ text: String, of attribute: EntityDescription.Attribute
  ) throws(CommandFailure) -> Value {
    do {
      return try TypedText.comparable(text, to: attribute)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Values for the first attributes of an index, separated by commas or as a JSON array.
  ///
  /// Commas may occur within the last value.
  static func bound(_ text: String, _ attributes: [EntityDescription.Attribute]) throws -> [Value] {
    if text.hasPrefix("["), let array = try? JSONDocument.parsing(text.utf8).root,
      array.kind == .array
    {
      return try bound(array, text, attributes)
    }
    let parts = text.split(
      separator: ",", maxSplits: attributes.count - 1, omittingEmptySubsequences: false)
    return try zip(parts, attributes).map { part, attribute in
      try value(String(part), of: attribute)
    }
  }

  private static func bound(
    _ array: JSONNode, _ text: String, _ attributes: [EntityDescription.Attribute]
  ) throws -> [Value] {
    guard array.count <= attributes.count else {
      throw CommandFailure.badArgument(
        text, reason: "has \(array.count) values, the index has \(attributes.count)",
        nextStep: "give at most that many")
    }
    return try zip(array.elements, attributes).map { node, attribute in
      do {
        return try Value(node, as: attribute.type)
      } catch {
        throw CommandFailure.badArgument(
          text, reason: "'\(attribute.name)' \(error)", nextStep: "write the value so")
      }
    }
  }
}
