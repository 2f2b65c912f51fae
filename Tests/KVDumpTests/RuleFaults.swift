import LMDB
import LodestoreBytes
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults that break one rule of Format.md each, named in its table of rules.
extension Fault {
  static let all = indexFaults + recordFaults + otherFaults + ruleFaults
  static let ruleFaults =
    catalogueFaults + keptCatalogueFaults + documentFaults + keyFaults + elementFaults + linkFaults
    + importFaults + historyFaults + headerFaults + digestFaults + sealFaults + limitFaults

  /// A catalogue in which one value is another; see ``RawStore/edit(_:_:_:to:)``.
  static func catalogue(
    _ name: String, in base: Base = .written, entity: EntityNumber = 1, _ path: String,
    _ value: Document?
  ) -> Fault {
    Fault(name, in: base) {
      try $0.edit(CatalogueKey.entity(entity), .catalogue, path, to: value)
    }
  }

  private static func index(_ number: Int64, over attributes: [Int64]) -> Document {
    .object([
      "number": .integer(number), "attributes": .array(attributes.map { .integer($0) }),
      "unique": .bool(false),
    ])
  }

  /// Faults of `catalogue.index` in indexes that are being built, which have to be as the others
  /// are.
  static let buildingFaults: [Fault] = [
    catalogue(
      "an index that is being built has no attributes", "building", .array([index(9, over: [])])),
    catalogue(
      "an index that is being built has an attribute twice that is not there", "building",
      .array([index(9, over: [99, 99])])),
    catalogue(
      "an index that is being built is over JSON", "building", .array([index(9, over: [5])])),
  ]

  /// Faults at the ends of ranges, each with the rule that it breaks besides its example above.
  static let endFaults: [(rule: FormatRule, fault: Fault)] =
    importEndFaults + holderFaults + historyEndFaults + sourceEndFaults + limitEndFaults + [
      (
        .counterKey,
        Fault("a counter is of entity 0") {
          try $0.put(CounterKey.nextRecord(entity: 0), littleEndianBytes(UInt64(1)), .counters)
        }
      ),
      (
        .counterEntity,
        Fault("a counter is of an entity to come, and none counts entities") {
          try $0.remove(CounterKey.nextEntity, .counters)
          try $0.put(CounterKey.nextRecord(entity: 77), littleEndianBytes(UInt64(9)), .counters)
        }
      ),
      (
        .historyMark,
        Fault("more writes were purged than can be", in: .kept) { store in
          let mark: Document = .object(["number": .integer(1 << 62 + 1), "time": .date(0)])
          let key = HistoryKey.purged.bytes
          try store.put(key, Checksum.sealed(key: key, content: mark.encoded()), .history)
        }
      ),
      (
        .catalogueCurrentLayout,
        catalogue(
          "an attribute is optional in the current layout alone", "layouts.0.attributes.0.optional",
          .bool(true))
      ),
      (
        .catalogueDocumentMembers,
        catalogue(
          "an outline is of no type", "attributes.0.members", .object(["type": .string("id")]))
      ),
      (
        .catalogueHistory,
        catalogue(
          "what is to be preserved is no attribute", in: .kept, entity: 4, "history.preserved",
          .array([.integer(99)]))
      ),
      (
        .catalogueExpiry,
        catalogue(
          "records expire by an attribute that is not there", "expires",
          .object(["attribute": .integer(99)]))
      ),
      (
        .historyPreserved,
        Fault("what is preserved is named with a zero", in: .kept) {
          try $0.edit(
            HistoryKey.tombstone(entity: 4, id: 3, transaction: 2).bytes, .history, "01",
            to: .null)
        }
      ),
    ]

  private static let sourceEndFaults: [(rule: FormatRule, fault: Fault)] = [
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

  private static let catalogueFaults: [Fault] = [
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

  private static let keptCatalogueFaults: [Fault] = [
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
      // After the header and the null bits comes `playerCount`.
      try store.reseal(1, entity: 5) { $0[3] = 9 }
    },
    Fault("an id is 0", in: .kept) { store in
      // After the header and the null bits comes `leader`.
      try store.reseal(1, entity: 3) {
        $0.replaceSubrange(3..<11, with: repeatElement(0, count: 8))
      }
    },
  ]

  private static func document(_ name: String, _ bytes: [UInt8]) -> Fault {
    Fault(name) {
      let key = ImportKey.state.bytes(name: "Film")
      try $0.put(key, Checksum.sealed(key: key, content: bytes), .imports)
    }
  }

  /// Arrays within arrays, the innermost without elements.
  private static func nested(_ depth: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for level in 0..<depth {
      let count = UInt32(level == 0 ? 0 : 1)
      bytes =
        [0x0c] + littleEndianBytes(UInt32(4 + bytes.count)) + littleEndianBytes(count) + bytes
    }
    return bytes
  }

  private static let documentFaults: [Fault] = [
    document("an integer is longer than it need be", [3, 0x80, 0]),
    document("a text of a document is not UTF-8", [6, 1, 0xff]),
    document("a document ends before its bytes", [2, 2]),
    document(
      "an object's members are in the wrong order",
      [0x0d, 10, 0, 0, 0, 2, 0, 0, 0, 1, 0x62, 0, 1, 0x61, 0]),
    document("arrays are nested 129 deep", nested(129)),
  ]

  private static func key(_ name: String, _ tuple: [UInt8]) -> Fault {
    Fault(name) {
      try $0.put(tuple + bigEndianBytes(UInt64(2)), [], TreeName.index(entity: 1, index: 2))
    }
  }

  private static let keyFaults: [Fault] = [
    key("a key has an unknown code", [0x50]),
    Fault("a key ends within a text") {
      try $0.put(
        [2] + [UInt8](repeating: 0x41, count: 12), [], TreeName.index(entity: 1, index: 2))
    },
    key("an integer of a key has a byte too many", [0x16, 0, 1]),
    key("a key has a negative zero", [0x21, 0x7f] + [UInt8](repeating: 0xff, count: 7)),
    key("a text of a key is not UTF-8", [2, 0xff, 0]),
    key("a text of a key is not in NFC", [2, 0x65, 0xcc, 0x81, 0]),
    key("a decimal of a key has an unknown class", [0x40, 9]),
    Fault("a record's id is 2^63") { store in
      let body = try VerifiedStore.filmLayout.record(
        id: 1 << 63, values: VerifiedStore.filmValues(50))
      try store.putRecord(1 << 63, body)
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

  private static let elementFaults: [Fault] = [
    Fault("an element has no entry") { try withElements($0) },
    Fault("the entry of an element has a body") { store in
      try withElements(store)
      var encoder = KeyEncoder()
      try encoder.append(.double(1))
      encoder.append(recordID: 1)
      try store.put(Array(encoder.bytes), [1], .elements(entity: 1, index: 1))
    },
  ]

  private static func relationship(
    _ name: String, _ number: UInt32, _ path: String, _ value: Document?
  ) -> Fault {
    Fault(name, in: .kept) {
      try $0.edit(CatalogueKey.relationship(number), .catalogue, path, to: value)
    }
  }

  private static let holderFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .relationshipHolder,
      relationship("the side that an attribute holds has a name", 2, "from.name", .string("holder"))
    ),
    (
      .relationshipHolder,
      Fault("an attribute holds two relationships", in: .kept) { store in
        let held = try store.get(CatalogueKey.relationship(2), .catalogue)
        let key = CatalogueKey.relationship(9)
        // The bytes after the checksum.
        let content = Array(held.dropFirst(4))
        try store.put(key, Checksum.sealed(key: key, content: content), .catalogue)
        try store.put(CounterKey.nextRelationship, littleEndianBytes(UInt64(10)), .counters)
      }
    ),
  ]

  private static let linkFaults: [Fault] = [
    relationship("a side has an unknown delete rule", 1, "from.onDelete", .string("vanish")),
    relationship("a side denies by a number", 1, "from.denyWhere", .integer(1)),
    relationship("a side has the name of an attribute", 1, "to.name", .string("name")),
    relationship("a side is of no entity", 1, "to.entity", .integer(99)),
    relationship("a relationship is held by a text", 2, "attribute", .integer(1)),
    relationship("the one record of an attribute is ordered", 2, "from.ordered", .bool(true)),
    Fault("a link is not of two ids", in: .kept) {
      try $0.put([1, 2, 3], [], .links(relationship: 1, side: .from))
    },
    Fault("a link has a body", in: .kept) { store in
      let tree = TreeName.links(relationship: 1, side: .from)
      try store.put(store.pairs(tree)[0].key, [1], tree)
    },
    Fault("a link is known from one side alone", in: .kept) { store in
      let tree = TreeName.links(relationship: 1, side: .to)
      try store.remove(store.pairs(tree)[0].key, tree)
    },
    Fault("a link leads to a record that is gone", in: .kept) {
      _ = try $0.transaction.delete(UInt64(1), in: $0.tree(.records(entity: 6)))
    },
    Fault("links of an ordered side have no positions", in: .kept) { store in
      try store.edit(CatalogueKey.relationship(1), .catalogue, "from.ordered", to: .bool(true))
      _ = try store.tree(.order(relationship: 1, side: .from))
    },
  ]

  private static let firstPart = HistoryKey.part(transaction: 1, part: 0).bytes

  /// A first write with other changes than it had.
  private static func changes(_ name: String, _ changes: [Document]) -> Fault {
    Fault(name, in: .kept) { try $0.edit(firstPart, .history, "changes", to: .array(changes)) }
  }

  /// A first write that added these links.
  private static func links(_ name: String, _ relationship: Int64, _ pairs: [UInt8]) -> Fault {
    let links: Document = .object([
      "relationship": .integer(relationship), "added": .data(pairs),
    ])
    return Fault(name, in: .kept) { try $0.edit(firstPart, .history, "links", to: .array([links])) }
  }

  private static let historyFaults: [Fault] = [
    Fault("a history has an unknown key", in: .kept) { try $0.put([9], [], .history) },
    Fault("a write of the history has no time", in: .kept) {
      try $0.edit(firstPart, .history, "time", to: .integer(1))
    },
    Fault("a write of the history lacks a part", in: .kept) {
      try $0.edit(firstPart, .history, "parts", to: .integer(2))
    },
    Fault("the first write of the history is gone", in: .kept) { store in
      for (key, _) in try store.pairs(.history) where key.starts(with: firstPart.prefix(9)) {
        try store.remove(key, .history)
      }
    },
    Fault("a purged write is still there", in: .kept) {
      let key = HistoryKey.purged.bytes
      let mark: Document = .object(["number": .integer(1), "time": .date(0)])
      try $0.put(key, Checksum.sealed(key: key, content: mark.encoded()), .history)
    },
    Fault("a run of ids is of no id", in: .kept) {
      try $0.edit(firstPart, .history, "changes.0.inserted", to: .data([0, 0]))
    },
    Fault("a change is of no record", in: .kept) {
      try $0.edit(firstPart, .history, "changes.0.inserted", to: .data([]))
    },
    changes(
      "a write inserts and deletes one record",
      [
        .object(["entity": .integer(4), "inserted": .data([1, 1])]),
        .object(["entity": .integer(4), "deleted": .data([2, 0])]),
      ]),
    changes(
      "an update is of an attribute that never was",
      [
        .object([
          "entity": .integer(4), "updated": .data([1, 0]), "attributes": .array([.integer(99)]),
        ])
      ]),
    links("two pairs of links are the same", 1, [1, 1, 4, 0]),
    links("links of the history are of a relationship that never was", 99, [1, 0, 4]),
    Fault("a write keeps its images under the number of a later one", in: .kept) {
      try $0.edit(firstPart, .history, "images", to: .integer(2))
    },
    Fault("a change is of no entity", in: .kept) {
      try $0.edit(firstPart, .history, "changes.0.entity", to: .integer(99))
    },
    Fault("an image's checksum is wrong", in: .kept) {
      let key = HistoryKey.image(entity: 4, id: 1, transaction: 2).bytes
      var body = try $0.get(key, .history)
      body[body.count - 1] ^= 1
      try $0.put(key, body, .history)
    },
    Fault("what is preserved is of no attribute", in: .kept) {
      try $0.edit(
        HistoryKey.tombstone(entity: 4, id: 3, transaction: 2).bytes, .history, "99",
        to: .integer(1))
    },
    Fault("an image is of a record that its write did not change", in: .kept) { store in
      let body = try store.get(HistoryKey.image(entity: 4, id: 1, transaction: 2).bytes, .history)
      try store.put(HistoryKey.image(entity: 4, id: 1, transaction: 1).bytes, body, .history)
    },
    Fault("one image of two is gone", in: .kept) {
      try $0.remove(HistoryKey.image(entity: 4, id: 1, transaction: 2).bytes, .history)
    },
    Fault("a consumer has read a write that was not told", in: .kept) {
      try $0.edit(HistoryKey.consumer("index").bytes, .history, "number", to: .integer(99))
    },
  ]

  /// Adds an index over the first attribute of entity 1 that has no entries yet.
  static func addBuilding(index number: UInt32, upTo next: UInt64, to store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(1), .catalogue, "building",
      to: .array([index(Int64(number), over: [1])]))
    _ = try store.tree(.index(entity: 1, index: number))
    try store.put(
      CounterKey.building(entity: 1, index: number), littleEndianBytes(next), .counters)
  }

  private static let headerFaults: [Fault] = [
    Fault("the number of the schema is beyond all") {
      try $0.put(HeaderField.schema.key, littleEndianBytes(UInt64.max), .header)
    },
    Fault("the header asks for less than what is used", in: .kept) {
      try $0.put(HeaderField.format.key, [1, 0, 0, 0, 1, 0, 0, 0], .header)
    },
    Fault("a counter is of an entity that never was") {
      try $0.put(CounterKey.nextRecord(entity: 77), littleEndianBytes(UInt64(9)), .counters)
    },
    Fault("an index is built up to record 0") { try addBuilding(index: 9, upTo: 0, to: $0) },
  ]
}

extension RawStore {
  /// Puts `value` into a sealed document, or removes it there.
  ///
  /// - Parameter path: names of members, and numbers of elements, with dots between them.
  func edit(_ key: [UInt8], _ tree: TreeName, _ path: String, to value: Document?) throws {
    let body = try get(key, tree)
    let document = try Array(body.dropFirst(4))._withBytes { try Document(decoding: $0) }
    let edited = try required(Self.edited(document, path.split(separator: ".")[...], value))
    try put(key, Checksum.sealed(key: key, content: edited.encoded()), tree)
  }

  private static func edited(
    _ document: Document, _ path: ArraySlice<Substring>, _ value: Document?
  ) throws -> Document? {
    guard let step = path.first else { return value }
    switch document {
    case .object(var members):
      let name = String(step)
      members[name] = try edited(members[name] ?? .null, path.dropFirst(), value)
      return .object(members)
    case .array(var elements):
      let index = try required(Int(step))
      elements[index] = try required(edited(elements[index], path.dropFirst(), value))
      return .array(elements)
    default: throw MissingInFixture()
    }
  }
}
