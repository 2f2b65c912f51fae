import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// The history seals or copies the values of records.
///
/// The history must not take the content of a damaged record.
@Suite struct `A damaged record that the history would keep` {
  /// Flips a bit of the last byte before the checksum, which belongs to a text.
  private static func damage(_ id: UInt64, _ path: String) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core throws in
      let entity = try #require(core.schema.entities.first)
      var bytes = Array(try #require(try core.record(id, of: entity)))
      bytes[bytes.count - RecordLayout.checksumSize - 1] ^= 1
      try bytes._withBytes { try core.writing.put(id, $0, in: entity.records) }
    }
  }

  private typealias Change = @Sendable (inout WriteTransaction, RecordID<Clause>) throws -> Void

  private static let changes: [(String, Change)] = [
    ("deleted", { tx, id in try tx.delete(id) }),
    ("deleted with others", { tx, _ in try tx.delete(Clause.where { $0.name.contains("a") }) }),
    ("deleted with all", { tx, _ in try tx.delete(Clause.all) }),
    (
      "replaced",
      { tx, id in
        var clause = Clause(name: "ab", text: "new")
        clause.id = id
        try tx.update(clause)
      }
    ),
    ("merged", { tx, _ in try tx.insert([Clause(name: "aa")], onConflict: .replace) }),
    ("updated", { tx, _ in try tx.update(Clause.where { $0.weight == nil }) { $0.weight = 5 } }),
  ]

  private static func expectRefusals(of type: StoreOptions) throws {
    for (name, change) in changes {
      let folder = try TemporaryFolder()
      var store = try Store(at: folder.storePath, entities: [Clause.self], options: type)
      let id = try store.insert(Clause(name: "aa", text: "text")).id
      try store.insert(Clause(name: "ba", text: "other"))
      store.close()
      try damage(id.rawValue, folder.storePath)
      let before = try Verifier.verify(path: folder.storePath).findings
      #expect(before.map(\.rule).contains(.recordChecksum), "\(before)")
      store = try Store(at: folder.storePath, entities: [Clause.self], options: type)
      let error = try storeError(.damaged) { try store.write { try change(&$0, id) } }
      #expect(error.recordID == id.rawValue && error.entity == "Clause", "\(name): \(error)")
      #expect(try store.count(Clause.all) == 2 && store.history().count == 2, "\(name)")
      store.close()
      #expect(try Verifier.verify(path: folder.storePath).findings == before, "\(name)")
    }
  }

  @Test func `a damaged record that the history would preserve is refused, without a change`()
    throws
  {
    try Self.expectRefusals(of: StoreOptions())
  }

  @Test func `a damaged record may be deleted if the history preserves nothing of it`() throws {
    try withTemporaryPath { path throws in
      var store = try Store(
        at: path, entities: [PersonV1.self], options: .history(.changes))
      let id = try store.insert(PersonV1(name: "p", email: "e", age: 1)).id
      store.close()
      try Self.damage(id.rawValue, path)
      store = try Store(at: path, entities: [PersonV1.self])
      try store.delete(id)
      store.close()
    }
  }
}
