import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults of the catalogue, and of indexes that it describes.
extension Fault {
  private static func index(_ number: Int64, over attributes: [Int64]) -> Document {
    .object([
      "number": .integer(number), "attributes": .array(attributes.map { .integer($0) }),
      "unique": .bool(false),
    ])
  }

  /// Faults of `catalogue.index` in indexes under construction, for which the same rules hold as
  /// for other indexes.
  static let buildingFaults: [Fault] = [
    catalogue(
      "an index that is being built has no attributes", "building", .array([index(9, over: [])])),
    catalogue(
      "an index that is being built has an attribute twice that is not there", "building",
      .array([index(9, over: [99, 99])])),
    catalogue(
      "an index that is being built is over JSON", "building", .array([index(9, over: [5])])),
  ]

  /// Adds an index under construction, without entries, over the first attribute of entity 1.
  static func addBuilding(index number: UInt32, upTo next: UInt64, to store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(1), .catalogue, "building",
      to: .array([index(Int64(number), over: [1])]))
    _ = try store.tree(.index(entity: 1, index: number))
    try store.put(
      CounterKey.building(entity: 1, index: number), littleEndianBytes(next), .counters)
  }

  /// Adds a search index under construction, without postings, over the second attribute of
  /// entity 1.
  static func addBuilding(search number: UInt32, upTo next: UInt64, to store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(1), .catalogue, "buildingComputed",
      to: .array([
        .object([
          "number": .integer(Int64(number)), "kind": .string("search"), "analysis": .integer(1),
          "sources": .array([
            .object(["attribute": .integer(2), "path": .array([]), "weight": .integer(1)])
          ]),
        ])
      ]))
    _ = try store.tree(.search(entity: 1, index: number))
    try store.put(
      CounterKey.buildingComputed(entity: 1, index: number), littleEndianBytes(next), .counters)
  }

  static let sourceEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (.catalogueSource, catalogue("a source is no text", "attributes.0.source", .integer(1))),
    (
      .catalogueSource,
      catalogue(
        "a source has 1,025 bytes", "attributes.0.source",
        .string(String(repeating: "a", count: 1_025)))
    ),
    (
      .catalogueSource,
      catalogue(
        "a source is the name", in: .kept, entity: 5, "attributes.0.source", .string("name"))
    ),
  ]

  static let catalogueFaults: [Fault] = [
    catalogue("an attribute does not say whether it is optional", "attributes.0.optional", nil),
    catalogue("an attribute has an unknown type", "attributes.0.type", .string("float128")),
    catalogue("an entity's name begins with a digit", "name", .string("1st")),
    catalogue("an attribute's name has a hyphen", "attributes.0.name", .string("a-b")),
    catalogue("two attributes have one number", "attributes.1.number", .integer(1)),
    catalogue("an integer has a shape", "attributes.0.shape", .string("Int")),
    catalogue(
      "an integer has members", "attributes.0.members",
      .object(["type": .string("object"), "members": .array([])])),
    catalogue("the default of an integer is a text", "attributes.0.default", .string("x")),
    catalogue("an initial JSON value holds a date", "attributes.4.initial", .array([.date(0)])),
    catalogue(
      "a layout has an attribute with another type", "layouts.0.attributes.0.type",
      .string("int32")),
    catalogue("the current layout is not there", "layout", .integer(9)),
    catalogue(
      "an index has an attribute that is not there", "indexes.0.attributes.0", .integer(99)),
    catalogue(
      "an index that is being built has the number of another", "building",
      .array([index(1, over: [1])])),
    catalogue(
      "an index over elements is over an integer", "elementIndexes",
      .array([
        .object(["number": .integer(1), "attribute": .integer(1), "path": .array([])])
      ])),
    catalogue(
      "a search index is over an integer", "searchIndexes",
      .array([
        .object([
          "number": .integer(1), "analysis": .integer(1),
          "sources": .array([
            .object(["attribute": .integer(1), "path": .array([]), "weight": .integer(1)])
          ]),
        ])
      ])),
    catalogue(
      "a place index is over a text", "placeIndexes",
      .array([
        .object([
          "number": .integer(1), "admitsInvalid": .bool(false),
          "sources": .array([
            .object(["attribute": .integer(1), "path": .array([])]),
            .object(["attribute": .integer(2), "path": .array([])]),
          ]),
        ])
      ])),
    catalogue(
      "a vector index is over a text", "vectorIndexes",
      .array([
        .object(["number": .integer(1), "attribute": .integer(2), "dimensions": .integer(3)])
      ])),
    catalogue(
      "the kind of a computed index that is being built is none of the four", "buildingComputed",
      .array([
        .object([
          "number": .integer(9), "kind": .string("words"), "attribute": .integer(2),
          "dimensions": .integer(3),
        ])
      ])),
    catalogue(
      "two rules have one name", "rules",
      .array(
        Array(
          repeating: .object(["name": .string("a"), "condition": .string("episodeId > 0")]),
          count: 2))),
    catalogue("a history says nothing of images", "history", .object([:])),
    catalogue(
      "an entity has 65 indexes", "indexes",
      .array((1...65).map { index($0, over: [1]) })),
    catalogue("a limit of length is a text", "attributes.1.minLength", .string("x")),
    catalogue("an integer has a pattern", "attributes.0.pattern", .string("a")),
    catalogue("a pattern has a backreference", "attributes.1.pattern", .string("(a)\\1")),
  ]

  static let keptCatalogueFaults: [Fault] = [
    catalogue(
      "records expire by an attribute that is no date", "expires",
      .object(["attribute": .integer(1)])),
    catalogue(
      "a derived attribute is of an unknown kind", in: .kept, entity: 5,
      "attributes.1.derived.kind", .string("soundex")),
    catalogue(
      "a derived text has a version", in: .kept, entity: 5, "attributes.1.derived.version",
      .integer(1)),
    catalogue(
      "a derived attribute has no source", in: .kept, entity: 5, "attributes.1.derived.source",
      .integer(99)),
    catalogue(
      "a derived attribute is optional and its source is not", in: .kept, entity: 5,
      "attributes.1.optional", .bool(true)),
    catalogue(
      "a derived count is of no relationship", in: .kept, entity: 5,
      "attributes.2.derived.relationship", .integer(9)),
    catalogue(
      "a derived count has an empty condition", in: .kept, entity: 5,
      "attributes.2.derived.condition", .string("")),
    Fault("a count is not that of the links", in: .kept) { store in
      // The byte at offset 3, after the header and the null bits, is `playerCount`.
      try store.reseal(1, entity: 5) { $0[3] = 9 }
    },
    Fault("an id is 0", in: .kept) { store in
      // The eight bytes at offset 3, after the header and the null bits, are `leader`.
      try store.reseal(1, entity: 3) {
        $0.replaceSubrange(3..<11, with: repeatElement(0, count: 8))
      }
    },
  ]

  private static func withElements(_ store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(1), .catalogue, "elementIndexes",
      to: .array([
        .object([
          "number": .integer(1), "attribute": .integer(5), "path": .array([.string("n")]),
        ])
      ]))
    _ = try store.tree(.elements(entity: 1, index: 1))
  }

  static let elementFaults: [Fault] = [
    Fault("an element has no entry") { try withElements($0) },
    Fault("the entry of an element has a body") { store in
      try withElements(store)
      var encoder = KeyEncoder()
      try encoder.append(.double(1))
      encoder.append(recordID: 1)
      try store.put(Array(encoder.bytes), [1], .elements(entity: 1, index: 1))
    },
  ]
}
