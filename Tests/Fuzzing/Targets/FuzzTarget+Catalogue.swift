import LodestoreBytes
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  /// The catalogue's description of an entity or a relationship, and the schema that opening a
  /// store makes of it.
  static let catalogue = FuzzTarget("catalogue", longestInput: 4_096) {
    let texts = try seedLines("catalogue.txt")
    return try texts
      + texts.map { text in
        try text._withBytes { try DocumentInput.document($0).encoded() }
      }
  } run: { bytes in
    let document = try DocumentInput.document(bytes)
    if document["from"] != nil {
      try DocumentInput.requireStable(document) {
        try RelationshipDescription(number: 1, document: $0).document
      }
      return
    }
    try DocumentInput.requireStable(document) {
      try EntityDescription(number: 1, document: $0).document
    }
    let description = try EntityDescription(number: 1, document: document)
    let relationship = RelationshipDescription(
      number: 1, from: .init(entity: 1, name: "a"), to: .init(entity: 1, name: "b"))
    try? description.checkDerivations([description], [relationship])
    _ = try? RecordValidator(description, description.layout)
    _ = description.declaredAttributes.count
    for index in description.indexes {
      _ = description.indexName(index)
      for layout in description.layouts { _ = IndexProgram(index, layout: layout) }
    }
    for rule in description.rules { _ = try? ConditionParser.parse(rule.condition) }
  }
}
