import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// Numbers of writes ascend without a gap, from the first that was not purged to 2^62.
@Suite struct `Numbers of the history` {
  private static func change(
    _ path: String, _ body: (Tree, WritingTransaction) throws -> Void
  ) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core in try body(try #require(core.tree(.history)), core.writing) }
  }

  /// Makes a history of three writes, and purges the first write if `isPurged`.
  private static func make(_ path: String, isPurged: Bool) throws {
    let store = try Store(at: path, entities: [Clause.self])
    defer { store.close() }
    for name in ["a", "b", "c"] { try store.insert(Clause(name: name)) }
    if isPurged { try store.purgeHistory(through: try store.history()[0].token) }
  }

  @Test(arguments: [(false, 1), (false, 2), (true, 2)] as [(Bool, UInt64)])
  func `numbers of the history have no gap, also before the first`(
    _ isPurged: Bool, _ missing: UInt64
  ) throws {
    let folder = try TemporaryFolder()
    try Self.make(folder.storePath, isPurged: isPurged)
    try expectSound(folder.storePath)
    try Self.change(folder.storePath) { tree, transaction in
      let isThere = try transaction.delete(
        HistoryKey.part(write: missing, part: 0).bytes, in: tree)
      #expect(isThere)
    }
    let findings = try Verifier.verify(path: folder.storePath).findings
    #expect(findings.map(\.rule) == [.historyNumber], "\(findings)")
    #expect(findings.first?.detail.contains("\(missing)") == true, "\(findings)")
  }

  private static func setPurged(_ number: UInt64, _ path: String) throws {
    try change(path) { tree, transaction in
      let key = HistoryKey.purged.bytes
      let mark = HistoryMark(number: number, time: 0).document
      try transaction.put(key, Checksum.sealed(key: key, content: mark.encoded()), in: tree)
    }
  }

  @Test func `numbers of the history end with 2^62, and the next write is refused as a whole`()
    throws
  {
    try withTemporaryPath { path throws in
      try Self.make(path, isPurged: false)
      var store = try Store(at: path, entities: [Clause.self])
      try store.purgeHistory(through: try #require(try store.history().last).token)
      store.close()
      try Self.setPurged(HistoryKey.lastWrite - 1, path)
      store = try Store(at: path, entities: [Clause.self])
      try store.insert(Clause(name: "last"))
      #expect(try store.history().map(\.token.number) == [HistoryKey.lastWrite])
      for _ in 0..<2 {
        let error = try storeError(.unstorableValue) {
          try store.write { tx throws in
            try tx.delete(Clause.where { $0.name == "last" })
            try tx.insert(Clause(name: "beyond"))
          }
        }
        #expect(error.message.contains("\(HistoryKey.lastWrite)"))
      }
      #expect(try store.fetch(Clause.all).map(\.name) == ["a", "b", "c", "last"])
      #expect(try store.history().count == 1)
      store.close()
      // The error message proposes to turn the history off, which works.
      let off = try Store(
        at: path, entities: [PlainClause.self], options: .history(.off))
      try off.insert(PlainClause(name: "more"))
      off.close()
    }
  }
}

/// The entity without a history.
private struct PlainClause: Entity {
  var id = RecordID<PlainClause>()
  var name: String
  var text = ""
  var weight: Int?

  init(name: String) { self.name = name }

  static let schema = EntitySchema<PlainClause>(
    "Clause",
    attributes: [.init("name", \.name), .init("text", \.text), .init("weight", \.weight)],
    unique: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    text = try reader.read()
    weight = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(text)
    writer.write(weight)
  }
}
