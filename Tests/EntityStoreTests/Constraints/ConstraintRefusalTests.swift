import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore

/// An entity in which one attribute, given by its index, has the constraints of the test.
private struct Sample: Entity {
  @TaskLocal static var constrained = 0
  @TaskLocal static var constraints: [AttributeConstraint] = []

  var id = RecordID<Sample>()
  var bool: Bool?, int8: Int8?, uint64: UInt64?, float: Float?, double: Double?, decimal: Decimal?
  var date: Date?, uuid: UUID?, text: String?, link: URL?, data: Data?, list: [Int]?

  static let names = [
    "bool", "int8", "uint64", "float", "double", "decimal", "date", "uuid", "text", "link", "data",
    "list",
  ]

  struct Attributes: Sendable {
    var id: Attribute<Sample, RecordID<Sample>> { .recordID }
    var bool: Attribute<Sample, Bool?> { .init(0) }
    var int8: Attribute<Sample, Int8?> { .init(1) }
    var uint64: Attribute<Sample, UInt64?> { .init(2) }
    var float: Attribute<Sample, Float?> { .init(3) }
    var double: Attribute<Sample, Double?> { .init(4) }
    var decimal: Attribute<Sample, Decimal?> { .init(5) }
    var date: Attribute<Sample, Date?> { .init(6) }
    var uuid: Attribute<Sample, UUID?> { .init(7) }
    var text: Attribute<Sample, String?> { .init(8) }
    var link: Attribute<Sample, URL?> { .init(9) }
    var data: Attribute<Sample, Data?> { .init(10) }
    var list: Attribute<Sample, [Int]?> { .init(11) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Sample> {
    func at(_ number: Int) -> [AttributeConstraint] { number == constrained ? constraints : [] }
    return EntitySchema<Sample>(
      "Sample",
      attributes: [
        .init("bool", \.bool, constraints: at(0)), .init("int8", \.int8, constraints: at(1)),
        .init("uint64", \.uint64, constraints: at(2)),
        .init("float", \.float, constraints: at(3)),
        .init("double", \.double, constraints: at(4)),
        .init("decimal", \.decimal, constraints: at(5)),
        .init("date", \.date, constraints: at(6)), .init("uuid", \.uuid, constraints: at(7)),
        .init("text", \.text, constraints: at(8)), .init("link", \.link, constraints: at(9)),
        .init("data", \.data, constraints: at(10)), .init("list", \.list, constraints: at(11)),
      ])
  }

  func encode(into writer: inout RecordWriter) {}
  init(from reader: inout RecordReader) throws(StoreError) {}
  init() {}
}

@Suite struct `Refused constraints` {
  private func withSample<R>(
    _ attribute: String, _ constraints: [AttributeConstraint], _ body: () throws -> R
  ) throws -> R {
    let index = try #require(Sample.names.firstIndex(of: attribute))
    return try Sample.$constrained.withValue(index) {
      try Sample.$constraints.withValue(constraints, operation: body)
    }
  }

  @Test(
    arguments: [
      ("bool", [.range(0...1)], "has a bound that is an integer and does not fit bool"),
      ("text", [.range("a"..."z")], "has a range, which string has not"),
      ("uuid", [.length(16...)], "has a limit of length, which uuid has not"),
      ("list", [.length(1...)], "has a limit of length, which document has not"),
      ("int8", [.length(1...)], "has a limit of length, which int8 has not"),
      ("link", [.pattern("https:.*")], "has a pattern, which is for string alone"),
      ("int8", [.range(0...128)], "has a bound that is an integer and does not fit int8"),
      ("int8", [.range(0.5...)], "has a bound that is a number and does not fit int8"),
      ("uint64", [.range((-1)...)], "has a bound that is an integer and does not fit uint64"),
      (
        "double", [.range(Date.distantPast...)],
        "has a bound that is a date and does not fit double"
      ),
      ("date", [.range(0...)], "has a bound that is an integer and does not fit date"),
      ("decimal", [.range(...Decimal.nan)], "has a bound that is not a number"),
      ("double", [.range(0...), .range(...5)], "has two ranges"),
      ("text", [.length(1...), .length(...5)], "has two lengths"),
      ("text", [.pattern("a"), .pattern("a")], "has two patterns"),
      ("text", [.length((-1)...)], "has a limit of length below zero"),
      ("data", [.length(-2 ... -1)], "has a limit of length below zero"),
      ("text", [.pattern("(a")], "has a pattern that cannot be used: the group at 0 is not closed"),
      ("text", [.pattern(#"(a)\1"#)], "has a pattern that cannot be used: "),
    ] as [(String, [AttributeConstraint], String)])
  func `opening a store reports each attribute with its fault`(
    attribute: String, constraints: [AttributeConstraint], fault: String
  ) throws {
    let error = try storeError(.badSchema) {
      try withSample(attribute, constraints) {
        try Store.inMemory(entities: [Sample.self])
      }
    }
    #expect(error.entity == "Sample" && error.attribute == attribute)
    #expect(
      error.message.hasPrefix("cannot use the schema of Sample: '\(attribute)' \(fault)"),
      "\(error)")
  }

  @Test(
    arguments: [
      ("int8", [.range(-128...127)]), ("uint64", [.range(UInt64.max...)]),
      ("float", [.range(0.1...)]),
      ("float", [.range(16_777_217...)]), ("double", [.range(-1...(.infinity))]),
      ("double", [.range(0...5)]), ("decimal", [.range(0.1...0.25)]), ("decimal", [.range(1...2)]),
      ("decimal", [.range(Decimal(1)...)]), ("date", [.range(...Date.distantFuture)]),
      ("text", [.pattern(""), .length(0...0)]), ("data", [.length(0...Int.max)]),
    ] as [(String, [AttributeConstraint])])
  func `valid constraints are unchanged when the store is opened again`(
    attribute: String, constraints: [AttributeConstraint]
  ) throws {
    try withTemporaryPath { path in
      var numbers: [SchemaNumber] = []
      for _ in 0..<2 {
        let store = try withSample(attribute, constraints) {
          try Store(at: path, entities: [Sample.self])
        }
        let entity = try #require(store.core.schema.entity(named: "Sample"))
        let stored = try #require(entity.description.attribute(named: attribute))
        #expect(stored.constraints == (try AttributeConstraints(constraints, for: stored.type)))
        #expect(entity.validator != nil)
        numbers.append(store.core.schema.number)
        store.close()
      }
      #expect(numbers == [SchemaNumber(1), SchemaNumber(1)])
      let plain = try Store(at: path, entities: [Sample.self])
      #expect(plain.core.schema.entity(named: "Sample")?.validator == nil)
      plain.close()
    }
  }

  @Test func `constraints of a damaged catalogue are refused at opening`() throws {
    let changes: [(String, (inout AttributeConstraints) -> Void)] = [
      ("text", { $0.pattern = "(" }),
      ("text", { $0.pattern = String(repeating: "a", count: 5_000) }),
      ("text", { $0.pattern = "a{1,1000}{1,1000}{1,1000}" }),
      ("int8", { ($0.minimum, $0.maximum) = (.integer(6), .integer(5)) }),
      ("int8", { $0.maximum = .integer(1_000) }), ("double", { $0.minimum = .double(.nan) }),
      ("data", { ($0.minLength, $0.maxLength) = (2, 1) }), ("data", { $0.minLength = -1 }),
      ("list", { $0.maxLength = 1 }),
    ]
    for (attribute, change) in changes {
      let folder = try TemporaryFolder()
      let store = try Store(at: folder.storePath, entities: [Sample.self])
      try store.core.write { core in
        var description = try core.entity(named: "Sample").description
        let index = try #require(
          description.attributes.firstIndex { $0.name == attribute })
        change(&description.attributes[index].constraints)
        let key = CatalogueKey.entity(description.number)
        try core.writing.put(
          key, Checksum.sealed(key: key, content: description.document.encoded()),
          in: core.store.trees.catalogue)
      }
      store.close()
      for options in [StoreOptions(), .readOnly] {
        let error = try storeError(.damaged) {
          try Store(at: folder.storePath, entities: [Sample.self], options: options)
        }
        #expect(error.message.contains("attribute '\(attribute)'"), "\(error)")
      }
    }
  }
}
