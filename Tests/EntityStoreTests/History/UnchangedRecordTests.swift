import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestoreVerifier

/// Writes that leave a record as it was.
@Suite struct `A record that is changed and changed back` {
  private func imageCount(_ store: Store) throws -> Int {
    try store.read { snapshot throws in
      let core = snapshot.access.core
      var count = 0
      let cursor = try Cursor(try #require(core.tree(.history)), in: core.transaction)
      try cursor.walk(KeyRange(lower: .included([2]), upper: .excluded([4]))) { _, _ in
        count += 1
        return true
      }
      return count
    }
  }

  @Test func `a record that is changed back is not reported, has no image, and blocks no undo`()
    throws
  {
    try withTemporaryStore([Clause.self]) { store in
      let ids = Array(try store.insert([Clause(name: "a"), Clause(name: "b")]).ids)
      try store.modify(ids[0]) { $0.text = "one" }
      let first = try store.historyToken()
      try store.write { tx in
        try tx.modify(ids[0]) { $0.text = "two" }
        try tx.update(Clause.all) { $0.weight = 3 }
        try tx.modify(ids[0]) { $0.text = "one" }
        try tx.update(Clause.all) { $0.weight = nil }
      }
      #expect(try store.history().count == 2)
      #expect(try imageCount(store) == 1)
      try expectSound(store)
      // The write changes two attributes and then restores one of them.
      try store.write { tx in
        try tx.modify(ids[0]) {
          $0.text = "two"
          $0.weight = 3
        }
        try tx.modify(ids[0]) { $0.text = "one" }
        try tx.modify(ids[1]) { $0.name = "c" }
        try tx.modify(ids[1]) { $0.name = "b" }
      }
      let told = try #require(try store.history().last)
      #expect(told.changes.map(\.recordID) == [ids[0].rawValue])
      #expect(told.changes.map(\.attributes) == [["weight"]])
      #expect(try imageCount(store) == 2)
      #expect(try store.write { try $0.undo(first) } == 1)
      #expect(try store.fetch(ids[0])?.text == "" && store.fetch(ids[0])?.weight == 3)
      try store.purgeHistory(before: Date().addingTimeInterval(60))
      #expect(try imageCount(store) == 0)
    }
  }

  @Test func `a record that is changed back is undone by a write that is reported as an undo`()
    throws
  {
    try withTemporaryStore([Clause.self]) { store in
      let id = try store.insert(Clause(name: "a")).id
      try store.modify(id) { $0.text = "one" }
      let first = try store.historyToken()
      let empty = try store.write { tx in
        try tx.modify(id) { $0.text = "two" }
        let token = try #require(try tx.ownHistoryToken())
        try tx.modify(id) { $0.text = "one" }
        return token
      }
      #expect(try store.history(.write(empty)).first?.changes.isEmpty == true)
      let undo = try store.write { tx in
        let count = try tx.undo(empty)
        #expect(count == 0)
        return try #require(try tx.ownHistoryToken())
      }
      let told = try #require(try store.history().last)
      #expect(told.token == undo && told.undoes == empty && told.changes.isEmpty)
      #expect(try store.write { try $0.undo(first) } == 1)
      #expect(try store.fetch(id)?.text == "")
    }
  }

  /// Earlier versions of the library wrote images of unchanged records, as this test does.
  @Test func `the verifier finds an image of an unchanged record, and purging removes it`()
    throws
  {
    let folder = try TemporaryFolder()
    func opened<R>(_ body: (Store) throws -> R) throws -> R {
      let store = try Store(at: folder.storePath, entities: [Clause.self])
      defer { store.close() }
      return try body(store)
    }
    try opened { store in
      let ids = Array(try store.insert([Clause(name: "a"), Clause(name: "b")]).ids)
      try store.modify(ids[0]) { $0.text = "x" }
      try store.core.write { core in
        let log = try WritableHistoryLog(creatingIn: core)
        let entity = try core.entity(named: "Clause")
        let record = try #require(try core.record(ids[1].rawValue, of: entity))
        _ = try log.keep(record, .image(entity: entity.number, id: 2, write: 2))
        try log.put(
          .object(["1": .string("b")]),
          .tombstone(entity: entity.number, id: 2, write: 2))
      }
    }
    #expect(
      try Verifier.verify(path: folder.storePath).findings.map(\.rule)
        == [.historyKept, .historyKept])
    try opened { store in
      try store.insert(Clause(name: "c"))
      let told = try store.history()
      #expect(try store.purgeHistory(through: told[1].token) == 2)
      #expect(try imageCount(store) == 0)
    }
    try expectSound(folder.storePath)
  }

  @Test func `the verifier finds a missing image among those of the same write`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Clause.self])
    try store.insert((0..<3).map { Clause(name: "\($0)") })
    try store.update(Clause.all) { $0.text = "x" }
    try store.delete(Clause.where { $0.name > "0" })
    try store.core.write { core in
      let log = try WritableHistoryLog(creatingIn: core)
      let entity = try core.entity(named: "Clause")
      try log.delete(.image(entity: entity.number, id: 2, write: 2))
      try log.delete(.tombstone(entity: entity.number, id: 3, write: 3))
    }
    store.close()
    let findings = try Verifier.verify(path: folder.storePath).findings
    #expect(findings.map(\.rule) == [.historyAllKept, .historyAllKept], "\(findings)")
  }
}
