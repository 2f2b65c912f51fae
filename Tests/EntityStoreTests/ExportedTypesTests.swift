import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands

/// `kvdump export` and `import` with declared types.
///
/// The tests are in this module, because the declared types are.
@Suite struct `Exported types` {
  private func kvdump(_ arguments: String...) async throws -> String {
    let data = MemorySink()
    let messages = MemorySink()
    let status = await KVDump.execute(arguments, on: Console(output: data, errors: messages))
    try #require(status == .success, "\(arguments): \(messages.text)")
    return data.text
  }

  /// The content of the records in order, without the parts that depend on their ids.
  private func contents(_ path: String) throws -> [[UInt8]] {
    let core = try StoreCore(path: path, options: .readOnly)
    defer { core.close() }
    return try core.read { core in
      var contents: [[UInt8]] = []
      try core.forEachRecord(of: try core.entity(named: "AllTypes")) {
        (_, view) throws(StoreError) in contents.append(Array(view.content))
      }
      return contents
    }
  }

  private func insert(_ values: [AllTypes], into path: String) throws {
    let store = try Store(at: path, entities: [AllTypes.self])
    defer { store.close() }
    try store.write { tx in for value in values { try tx.insert(value) } }
  }

  private func first(in path: String) throws -> AllTypes? {
    let store = try Store(at: path, entities: [AllTypes.self])
    defer { store.close() }
    return try store.read { try $0.fetch(AllTypes.all) }.first
  }

  private static func extremes() throws -> [AllTypes] {
    var highest = AllTypes()
    highest.bool = true
    (highest.int8, highest.int16, highest.int32) = (.max, .max, .max)
    (highest.int64, highest.int) = (.max, .max)
    (highest.uint8, highest.uint16, highest.uint32) = (.max, .max, .max)
    (highest.uint64, highest.uint) = (.max, (1 << 53) + 1)
    (highest.float, highest.double) = (.greatestFiniteMagnitude, .infinity)
    highest.string = (0...0xA0).compactMap { Unicode.Scalar($0).map(String.init) }.joined()
    highest.string += "\u{10ffff}e\u{301}é\u{202e}\u{2028}\r\n"
    highest.data = Data(0...255)
    highest.date = Date(timeIntervalSinceReferenceDate: 725_803_200.123_456_7)
    highest.uuid = UUID()
    highest.decimal = try #require(
      Decimal(string: "-340282366920938463463374607431768211455e127"))
    highest.optionalDecimal = Decimal(string: "12345678901234567890123456789")
    (highest.stage, highest.grade) = (.yanked, .high)
    highest.list = ["", "\u{0}", "é"]
    highest.table = ["": -0.0, "b": .infinity, "c": .nan, "a": 5]
    highest.place = Place(
      name: "a", tags: ["x": [.max, .min], "": []],
      inner: [Place(name: "b", tags: [:], inner: [])])
    highest.json = .array([
      .integer(.max), .unsigned(.max), .double(5), .double(1e300), .string(""),
    ])
    highest.optionalDouble = .leastNonzeroMagnitude
    (highest.optionalFloat, highest.optionalUInt64) = (.leastNonzeroMagnitude, (1 << 53) + 1)
    (highest.optionalData, highest.optionalString) = (Data(), "")
    (highest.optionalUUID, highest.optionalDate) = (highest.uuid, .distantPast)
    highest.optionalPlace = highest.place

    var lowest = AllTypes()
    (lowest.int8, lowest.int64, lowest.float) = (.min, .min, -.infinity)
    lowest.double = Double(bitPattern: 0xfff8_0000_dead_beef)
    lowest.optionalDouble = .nan
    lowest.optionalFloat = -0.0
    (lowest.date, lowest.optionalDate) = (
      Date(timeIntervalSinceReferenceDate: .nan), Date(timeIntervalSinceReferenceDate: 1e-20)
    )
    (lowest.decimal, lowest.optionalDecimal) = (.nan, .leastNonzeroMagnitude)
    lowest.json = .object(["$document": .string("AA==")])
    lowest.optionalJSON = .array([.double(.infinity), .null])
    var deep = JSONValue.null
    for _ in 0..<127 { deep = .array([deep]) }
    var nested = AllTypes()
    nested.json = deep
    nested.optionalJSON = .null
    nested.date = Date(timeIntervalSinceReferenceDate: -0.0)
    nested.optionalDate = Date(timeIntervalSinceReferenceDate: 1e300)
    return [highest, lowest, nested, AllTypes()]
  }

  @Test(arguments: ["jsonl", "json"])
  func `exported types come back to the bit, in a store that the types open`(format: String)
    async throws
  {
    let folder = try TemporaryFolder()
    var random = SeededNumbers(seed: 4711)
    let values = try Self.extremes() + (0..<300).map { _ in AllTypes.nasty(&random) }
    try insert(values, into: folder.storePath)

    let schema = folder.path + "/schema.json"
    let text = try await kvdump("schema", folder.storePath, "AllTypes", "--format", "json")
    try Data(text.utf8).write(to: URL(fileURLWithPath: schema))
    let file = folder.path + "/all." + format
    _ = try await kvdump("export", folder.storePath, "AllTypes", file)
    let copy = folder.path + "/copy.lodestore"
    let report = try await kvdump(
      "import", copy, file, "--entity", "AllTypes", "--schema", schema, "--insert-only")
    #expect(report.contains(#""inserted":304,"#), "\(report.prefix(2000))")

    let (before, after) = (try contents(folder.storePath), try contents(copy))
    #expect(before.count == after.count)
    for (index, pair) in zip(before, after).enumerated() where pair.0 != pair.1 {
      Issue.record("record \(index) is another one")
    }
    #expect(try first(in: copy)?.place == values[0].place)
    try expectSound(copy)
  }

  @Test func `exported types are read from bytes only if these are a value of the type`() throws {
    func value(_ text: String, _ type: AttributeType) throws -> Value? {
      ExactJSON.value(try JSONDocument.parsing(Array(text.utf8)).root, as: type)
    }
    func object(_ document: Document) -> String {
      "{\"$document\":\"\(Data(document.encoded()).base64EncodedString())\"}"
    }
    #expect(try value(object(.date(5)), .date) == .date(5))
    #expect(try value(object(.date(5)), .document) == .document(Document.date(5).encoded()))
    #expect(try value(object(.null), .json) == .document([0]))
    for (text, type) in [
      (object(.date(5)), AttributeType.double), (object(.date(5)), .json),
      (object(.double(0.1)), .float), (object(.string("x")), .string), ("{}", .document),
      (#"{"$document":"AA==","x":1}"#, .document), (#"{"$document":"//8="}"#, .document),
      (#"{"$document":"AAA="}"#, .document), (#"{"$document":"%"}"#, .document),
      (#"{"$document":1}"#, .document), (#"["$document"]"#, .document),
    ] {
      #expect(try value(text, type) == nil, "\(text) as \(type.name)")
    }
  }
}
