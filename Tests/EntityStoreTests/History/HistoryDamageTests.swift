import Foundation
import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Damaged bytes in the history are found by the verifier, and reported as errors by reads.
@Suite struct `A damaged history` {
  /// Clauses that were inserted, changed and deleted, shelves with books, and a consumer.
  private static func make(_ path: String) throws {
    let store = try Store(
      at: path, entities: Library.entities + [Clause.self], options: .history(.images))
    let ids = try store.insert((0..<6).map { Clause(name: "c\($0)") }).ids
    try store.write(author: "a", contextName: "b") { tx in
      try tx.modify(ids[0]) { $0.text = "x" }
      try tx.modify(ids[1]) { $0.weight = 2 }
      try tx.delete(ids[2])
    }
    try store.write { tx throws in
      let shelf = try tx.insert(Shelf(name: "s")).id
      let books = try tx.insert((0..<3).map { Book(title: "b\($0)") }).ids
      try tx.add(Array(books), to: Shelf.books, of: shelf)
    }
    try store.write { tx throws in
      try tx.setHistoryToken(try tx.historyToken(), ofConsumer: "me")
    }
    try store.purgeHistory(through: try store.history()[0].token)
    store.close()
  }

  /// Passes the pairs of the tree `history` to `change`, which modifies the tree.
  private static func change(
    _ path: String,
    _ change: ([(key: [UInt8], body: [UInt8])], Tree, WritingTransaction) throws -> Void
  ) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core in
      let tree = try #require(core.tree(.history))
      var pairs: [(key: [UInt8], body: [UInt8])] = []
      try Cursor(tree, in: core.transaction).walk(KeyRange()) { key, body in
        pairs.append((Array(key), Array(body)))
        return true
      }
      try change(pairs, tree, core.writing)
    }
  }

  /// Calls every function that reads the history, each until its end or an error.
  private static func readAll(_ path: String) throws {
    let store = try Store(at: path, entities: Library.entities + [Clause.self])
    defer { store.close() }
    try store.read { snapshot in
      for transaction in try snapshot.history(.all) {
        for change in transaction.changes.prefix(50) where change.entity == "Clause" {
          _ = try snapshot.value(before: change, as: Clause.self)
          _ = try snapshot.value(after: change, as: Clause.self)
          _ = try snapshot.preserved(\Clause.Attributes.name, of: change)
        }
      }
      _ = try snapshot.historyConsumers()
    }
  }

  private static func writeAll(_ path: String) throws {
    let store = try Store(at: path, entities: Library.entities + [Clause.self])
    defer { store.close() }
    try store.insert(Clause(name: UUID().uuidString))
    if let last = try store.history().last { try store.write { _ = try $0.undo(last.token) } }
    try store.purgeConsumedHistory()
    try store.purgeHistory(before: .now)
  }

  @Test func `checksums find every changed byte of a damaged history`() throws {
    let origin = try TemporaryFolder()
    try Self.make(origin.storePath)
    var count = 0
    try Self.change(origin.storePath) { pairs, _, _ in count = pairs.count }
    #expect(count > 6)
    for number in 0..<count {
      let folder = try TemporaryFolder()
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: folder.storePath)
      try Self.change(folder.storePath) { pairs, tree, transaction in
        var (key, body) = pairs[number]
        body[body.count / 2] ^= 0x40
        try transaction.put(key, body, in: tree)
        key = []
      }
      let report = try Verifier.verify(path: folder.storePath)
      #expect(report.count(of: .history) >= 1, "pair \(number): \(report.findings)")
      do {
        try Self.readAll(folder.storePath)
      } catch let error as StoreError {
        #expect(error.code == .damaged, "\(error)")
      }
    }
  }

  /// The variable `LODESTORE_CASES` sets the number of damaged histories.
  @Test func `any bytes of a damaged history with right checksums end only the call`() throws {
    var numbers = SeededNumbers(salt: 5_100)
    let cases = (SeededNumbers.environmentNumber("LODESTORE_CASES") ?? 1_000) / 10
    let origin = try TemporaryFolder()
    try Self.make(origin.storePath)
    let folder = try TemporaryFolder()
    let path = folder.storePath
    var (sound, faulty) = (0, 0)
    for _ in 0..<cases {
      try? FileManager.default.removeItem(atPath: path)
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      try Self.change(path) { pairs, tree, transaction in
        for _ in 0...numbers.below(2) {
          var (key, body) = pairs[numbers.below(pairs.count)]
          let isRecord = key[0] == 2
          var content = isRecord ? body.dropLast(4) : body.dropFirst(4)
          for _ in 0...numbers.below(3) {
            let index = content.startIndex + numbers.below(max(1, content.count))
            switch numbers.below(4) {
            case 0 where index < content.endIndex: content[index] ^= 1 << UInt8(numbers.below(8))
            case 1 where index < content.endIndex:
              content[index] = [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)]
            case 2 where index < content.endIndex: content.remove(at: index)
            default: content.insert(UInt8(numbers.below(256)), at: index)
            }
          }
          if numbers.below(4) == 0 {
            key[numbers.below(key.count)] = [0, 1, 2, 3, 4, 5, 0x7f, 0xff][numbers.below(8)]
          }
          body =
            isRecord
            ? Array(content) + body.suffix(4) : Checksum.sealed(key: key, content: Array(content))
          try transaction.put(key, body, in: tree)
        }
      }
      let report = try Verifier.verify(path: path)
      if report.isSound { sound += 1 } else { faulty += 1 }
      for work in [Self.readAll, Self.writeAll] {
        do {
          try work(path)
        } catch let error as StoreError {
          #expect(!error.message.isEmpty)
        }
      }
    }
    print("of \(cases) histories with other bytes \(faulty) were found, \(sound) are legal")
    #expect(faulty > cases / 2, "\(SeededNumbers.replay)")
  }

  /// A few bytes can claim 2^61 records.
  ///
  /// A read that visited each would never end.
  @Test func `a damaged history with ids that were never given is refused before a read`() throws {
    let folder = try TemporaryFolder()
    try Self.make(folder.storePath)
    try Self.change(folder.storePath) { pairs, tree, transaction in
      let first = try #require(pairs.first { $0.key[0] == 1 })
      var part = try first.body.dropFirst(4)._withBytes {
        try HistoryPart(decoding: $0)
      }
      part.changes[0].ids = IDRuns([1..<1 << 61])
      let content = part.encoded
      try transaction.put(first.key, Checksum.sealed(key: first.key, content: content), in: tree)
    }
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.count(of: .history) == 1, "\(report.findings)")
    for work in [Self.readAll, Self.writeAll] {
      let error = #expect(throws: StoreError.self) { try work(folder.storePath) }
      #expect(error?.code == .damaged && error?.message.contains("was never a record") == true)
    }
  }

  /// Makes the write at `position` report all ids up to 2^62.
  ///
  /// The record counter is raised too, so that the ids seem to have been assigned.
  private static func widen(
    _ path: String, _ position: Int, _ kind: HistoryPart.Change.Kind
  ) throws {
    try change(path) { pairs, tree, transaction in
      let (key, body) = pairs.filter { $0.key[0] == 1 }[position]
      var part = try body.dropFirst(4)._withBytes {
        try HistoryPart(decoding: $0)
      }
      let index = try #require(part.changes.firstIndex { $0.kind == kind })
      let first = try #require(part.changes[index].ids.ranges.first).lowerBound
      part.changes[index].ids = IDRuns([first..<1 << 62])
      let content = part.encoded
      try transaction.put(key, Checksum.sealed(key: key, content: content), in: tree)
    }
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core in
      let counter = withUnsafeBytes(of: UInt64(1 << 62).littleEndian) { Array($0) }
      try core.writing.put(
        CounterKey.nextRecord(entity: 1), counter, in: core.store.trees.counters)
    }
  }

  @Test func `a damaged history with 2^62 possible records is read by its existing records`() throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    func opened(_ body: (Store) throws -> Void) throws {
      let store = try Store(at: path, entities: [Clause.self], options: .history(.images))
      defer { store.close() }
      try body(store)
    }
    func refused(_ store: Store, _ token: HistoryToken) -> StoreError? {
      #expect(throws: StoreError.self) { try store.write { _ = try $0.undo(token) } }
    }
    try opened { _ = try $0.insert((0..<6).map { Clause(name: "c\($0)") }) }
    try Self.widen(path, 0, .inserted)
    try opened { store throws in
      let insert = try store.history()[0]
      #expect(insert.changes.count == 1 << 62 - 1)
      #expect(try store.write { try $0.undo(insert.token) } == 6)
      #expect(try store.count(Clause.all) == 0)
      let undo = try store.historyToken()
      #expect(try store.write { try $0.undo(undo) } == 6)
      try store.write { tx in
        try tx.modify(Clause.ID(rawValue: 2)) { $0.text = "x" }
        try tx.delete(Clause.ID(rawValue: 3))
      }
    }
    try Self.widen(path, 3, .deleted)
    try opened { store throws in
      let changes = try store.history()
      let found = try store.history(.all.matching(Clause.where { $0.name > "c1" }))
      #expect(
        found.map { $0.changes.map(\.recordID) }
          == [[3, 4, 5, 6], [3, 4, 5, 6], [3, 4, 5, 6], [3]])
      #expect(found[0].undecidedCount == 1 << 62 - 1 - 6)
      #expect(refused(store, changes[3].token)?.recordID == 4)
      #expect(refused(store, changes[0].token)?.recordID == 2)
      try store.purgeHistory(through: changes[3].token)
      #expect(try store.history().isEmpty)
    }
    try expectSound(path)
  }

  @Test func `the verifier finds missing and extra parts and writes in the history`() throws {
    typealias Fault = ([(key: [UInt8], body: [UInt8])], Tree, WritingTransaction) throws -> Void
    let faults: [Fault] = [
      { pairs, tree, transaction in
        // The fault removes the second of three writes.
        let parts = pairs.filter { $0.key[0] == 1 }
        try transaction.delete(parts[1].key, in: tree)
      },
      { pairs, tree, transaction in
        let part = try #require(pairs.first { $0.key[0] == 1 })
        let content = Array(part.body.dropFirst(4))
        let key = HistoryKey.part(write: 2, part: 7).bytes
        try transaction.put(key, Checksum.sealed(key: key, content: content), in: tree)
      },
      { _, tree, transaction in try transaction.put([9, 9], [], in: tree) },
      { pairs, tree, transaction in
        let image = try #require(pairs.first { $0.key[0] == 2 })
        let key = HistoryKey.image(entity: 1, id: 1, write: 99).bytes
        try transaction.put(key, image.body, in: tree)
      },
      { _, tree, transaction in
        let key = HistoryKey.consumer("far").bytes
        let mark = HistoryMark(number: 1_000, time: 0).document
        try transaction.put(key, Checksum.sealed(key: key, content: mark.encoded()), in: tree)
      },
      { _, tree, transaction in
        let key = HistoryKey.part(write: .max, part: 0).bytes
        let part = HistoryPart(
          header: .init(partCount: 1, time: 0, process: 1, author: nil, context: nil))
        try transaction.put(
          key, Checksum.sealed(key: key, content: part.encoded), in: tree)
      },
    ]
    for (number, fault) in faults.enumerated() {
      let folder = try TemporaryFolder()
      try Self.make(folder.storePath)
      try Self.change(folder.storePath, fault)
      let report = try Verifier.verify(path: folder.storePath)
      #expect(report.count(of: .history) >= 1, "fault \(number): \(report.findings)")
      for work in [Self.readAll, Self.writeAll] {
        do {
          try work(folder.storePath)
        } catch let error as StoreError {
          #expect(!error.message.isEmpty)
        }
      }
    }
  }
}
