import LMDB
import LodestoreBytes
import LodestoreFormat

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store written straight through LMDB and the format's code, in a folder that is deleted with
/// the object.
final class VerifiedStore {
  let path: String
  private let folder: String

  static let film = EntityDescription(
    number: 1, name: "Film",
    attributes: [
      .init(number: 1, name: "episodeId", type: .int64, isOptional: false),
      .init(number: 2, name: "title", type: .string, isOptional: false),
      .init(number: 3, name: "code", type: .string, isOptional: true),
      .init(number: 4, name: "price", type: .decimal, isOptional: false),
      .init(number: 5, name: "extra", type: .json, isOptional: true),
      .init(number: 6, name: "isShort", type: .bool, isOptional: false),
    ],
    layouts: [filmLayout], currentLayout: 1,
    indexes: [
      .init(number: 1, attributes: [1], isUnique: true),
      .init(number: 2, attributes: [2], isUnique: false),
      .init(number: 3, attributes: [3], isUnique: true),
      .init(number: 4, attributes: [6, 4], isUnique: false),
    ])
  static let filmLayout = RecordLayout(
    number: 1,
    attributes: [
      .init(number: 1, type: .int64, isOptional: false),
      .init(number: 2, type: .string, isOptional: false),
      .init(number: 3, type: .string, isOptional: true),
      .init(number: 4, type: .decimal, isOptional: false),
      .init(number: 5, type: .json, isOptional: true),
      .init(number: 6, type: .bool, isOptional: false),
    ])
  /// The entity of pods.
  ///
  /// Its first layout lacks `stars`, for which records of that layout have the initial value 7.
  static let pod = EntityDescription(
    number: 2, name: "Pod",
    attributes: [
      .init(number: 1, name: "name", type: .string, isOptional: false),
      .init(number: 2, name: "stars", type: .int64, isOptional: false, initial: .integer(7)),
    ],
    layouts: [
      RecordLayout(
        number: 1, attributes: [.init(number: 1, type: .string, isOptional: false)]),
      podLayout,
    ],
    currentLayout: 2, indexes: [.init(number: 1, attributes: [2, 1], isUnique: false)])
  static let podLayout = RecordLayout(
    number: 2,
    attributes: [
      .init(number: 1, type: .string, isOptional: false),
      .init(number: 2, type: .int64, isOptional: false),
    ])

  convenience init() throws { try self.init(filledBy: { try $0.fill() }) }

  init(filledBy fill: (RawStore) throws -> Void) throws {
    folder = scratchFolderPath()
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    path = folder + "/store.lodestore"
    try change(fill)
  }

  /// A copy of a file that the library has written.
  init(copying file: String) throws {
    folder = scratchFolderPath()
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    path = folder + "/store.lodestore"
    try FileManager.default.copyItem(atPath: file, toPath: path)
  }

  /// A kept file with relationships, derived attributes, a rule, a history and an open import.
  static func kept() throws -> VerifiedStore {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = PageFormat.ofEngine == .lmdb10 ? "lmdb-1.0/" : ""
    return try VerifiedStore(
      copying: tests.appendingPathComponent(
        "EntityStoreTests/Corpus/Files/\(folder)format-5.lodestore"
      ).path
    )
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Runs `body` in one commit, with the file open only as long as that takes.
  func change(_ body: (RawStore) throws -> Void) throws {
    var options = EnvironmentOptions()
    options.access = .readWrite(create: true)
    options.mapSizeInBytes = 1 << 28
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    try environment.write { try body(RawStore(environment: environment, transaction: $0)) }
  }

  static func filmValues(_ number: Int) throws -> [Value] {
    let json: Document = .object(["n": .integer(Int64(number)), "list": .array([.null])])
    return [
      .integer(Int64(number) * 100 - 300),
      .string(number == 3 ? String(repeating: "long ", count: 200) : "Title \(number)"),
      number % 2 == 0 ? .null : .string("code \(number)"),
      .decimal(DecimalValue(isNegative: number == 2, exponent: -2, significand: 1_299)),
      number == 4 ? .null : .document(json.encoded()),
      .bool(number == 5),
    ]
  }
}

/// A write transaction on a store, with functions for making a fault.
struct RawStore {
  let environment: Environment
  let transaction: WritingTransaction

  func tree(_ name: TreeName) throws -> Tree {
    let isRecords = if case .records = name { true } else { false }
    return try tree(name.text, hasIntegerKeys: isRecords)
  }

  func tree(_ name: String, hasIntegerKeys: Bool = false) throws -> Tree {
    let opened = try environment.tree(
      name, isCreated: true, hasIntegerKeys: hasIntegerKeys, in: transaction)
    return try required(opened)
  }

  func put(_ key: [UInt8], _ body: [UInt8], _ name: TreeName) throws {
    try transaction.put(key, body, in: tree(name))
  }

  func get(_ key: [UInt8], _ name: TreeName) throws -> [UInt8] {
    Array(try required(transaction.get(key, in: tree(name))))
  }

  func remove(_ key: [UInt8], _ name: TreeName) throws {
    _ = try required(transaction.delete(key, in: tree(name)) ? true : nil)
  }

  /// The pairs of a tree, in order.
  func pairs(_ name: TreeName) throws -> [(key: [UInt8], body: [UInt8])] {
    var result: [(key: [UInt8], body: [UInt8])] = []
    let cursor = try Cursor(tree(name), in: transaction)
    var found = try cursor.first()
    while found {
      result.append((Array(cursor.key), Array(cursor.value)))
      found = try cursor.next()
    }
    return result
  }

  // MARK: Records

  func record(_ id: UInt64, entity: EntityNumber = 1) throws -> [UInt8] {
    Array(try required(transaction.get(id, in: tree(.records(entity: entity)))))
  }

  func putRecord(_ id: UInt64, _ body: [UInt8], entity: EntityNumber = 1) throws {
    let tree = try tree(.records(entity: entity))
    try body._withBytes { try transaction.put(id, $0, in: tree) }
  }

  /// Changes a record's bytes and gives it the checksum of the result.
  func reseal(_ id: UInt64, entity: EntityNumber = 1, _ change: (inout [UInt8]) throws -> Void)
    throws
  {
    var content = Array(try record(id, entity: entity).dropLast(4))
    try change(&content)
    let checksum = content._withBytes { Checksum.record(id: id, body: $0) }
    try putRecord(id, content + littleEndianBytes(checksum), entity: entity)
  }

  /// Stores the values of a record under another id, without any index entry.
  func putCopy(of id: UInt64, as other: UInt64, entity: EntityNumber = 1) throws {
    let content = Array(try record(id, entity: entity).dropLast(4))
    let checksum = content._withBytes { Checksum.record(id: other, body: $0) }
    try putRecord(other, content + littleEndianBytes(checksum), entity: entity)
  }

  func putCatalogue(_ entity: EntityNumber, _ document: Document) throws {
    let key = CatalogueKey.entity(entity)
    try put(key, Checksum.sealed(key: key, content: document.encoded()), .catalogue)
  }

  /// Puts a record and its entries in all indexes.
  func insert(_ id: UInt64, _ values: [Value], _ layout: RecordLayout, _ entity: EntityDescription)
    throws
  {
    let body = try layout.record(id: id, values: values)
    try putRecord(id, body, entity: entity.number)
    for index in entity.indexes {
      var tuple: [Value] = []
      for number in index.attributes {
        let index = layout.attributes.firstIndex { $0.number == number }
        tuple.append(index.map { values[$0] } ?? entity.attribute(number: number)?.initial ?? .null)
      }
      // The keys are made from the values and not from the record's bytes, so an error in one way
      // shows.
      var encoder = KeyEncoder()
      for value in tuple { try encoder.append(value) }
      encoder.finishTuple()
      if !index.isUnique || tuple.contains(.null) { encoder.append(recordID: id) }
      try put(
        Array(encoder.bytes), index.isUnique ? littleEndianBytes(id) : [],
        .index(entity: entity.number, index: index.number))
    }
  }

  /// A report of an import that has ended.
  static var importReport: Document {
    var members: [String: Document] = [
      "name": .string("Film"), "entity": .string("Film"), "strategy": .string("upsert"),
      "run": .integer(1), "ending": .string("finished"), "startedAt": .date(0),
      "keptUnseen": .bool(false), "unknownMembers": .object([:]), "rejects": .array([]),
      "seconds": .double(0.5), "decodingSeconds": .double(0), "writingSeconds": .double(0),
    ]
    for name in [
      "pages", "unchangedPages", "inserted", "updated", "unchanged", "ignored", "deleted",
      "rejected", "bytes", "commits", "resumptions",
    ] { members[name] = .integer(0) }
    return .object(members)
  }

  func fill() throws {
    try put(HeaderField.format.key, FormatFeature.base.requirement.bytes, .header)
    try put(HeaderField.uuid.key, [UInt8](repeating: 7, count: 16), .header)
    try put(HeaderField.created.key, littleEndianBytes((0.5).bitPattern), .header)
    try put(HeaderField.schema.key, littleEndianBytes(UInt64(3)), .header)
    try put(CounterKey.nextEntity, littleEndianBytes(UInt64(3)), .counters)
    try put(CounterKey.nextRecord(entity: 1), littleEndianBytes(UInt64(9)), .counters)
    for entity in [VerifiedStore.film, VerifiedStore.pod] {
      try putCatalogue(entity.number, entity.document)
    }
    for number in 1...6 {
      try insert(
        UInt64(number), VerifiedStore.filmValues(number), VerifiedStore.filmLayout,
        VerifiedStore.film)
    }
    for number in 1...4 {
      let isOld = number < 3
      let name = Value.string("pod \(number)")
      try insert(
        UInt64(number), isOld ? [name] : [name, .integer(Int64(number))],
        isOld ? VerifiedStore.pod.layouts[0] : VerifiedStore.podLayout, VerifiedStore.pod)
    }
    let key = BucketKey.prefix(bucket: "settings") + [1, 2]
    try put(key, Checksum.sealed(key: key, content: [5, 6, 7]), .buckets)
    let report = ImportKey.report(run: 1).bytes(name: "Film")
    let document = Self.importReport
    try put(report, Checksum.sealed(key: report, content: document.encoded()), .imports)
  }
}

/// A part that a fixture needs is missing.
struct MissingInFixture: Error {}

func required<T>(_ value: T?) throws -> T {
  guard let value else { throw MissingInFixture() }
  return value
}
