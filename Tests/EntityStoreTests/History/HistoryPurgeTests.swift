import Foundation
import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// Tokens, consumers and the rest of the history after purging.
@Suite struct `Purging the history` {
  private let soon = Date().addingTimeInterval(600)

  private func withWrites(_ count: Int, _ body: (Store, [HistoryWrite]) throws -> Void) throws {
    try withTemporaryStore([Clause.self]) { store in
      for number in 0..<count { try store.insert(Clause(name: "\(number)")) }
      try store.update(Clause.all) { $0.text = "x" }
      try store.delete(Clause.where { $0.name == "0" })
      try body(store, try store.history())
    }
  }

  @Test func `purging makes older tokens expire, and later ones continue`() throws {
    try withWrites(5) { store, told throws in
      #expect(try store.purgeHistory(through: told[2].token) == 3)
      let error = try storeError(.expiredHistory) { try store.history(.after(told[1].token)) }
      #expect(error.message.contains("up to write 3"))
      #expect(try store.history(.after(told[2].token)).map(\.id) == [4, 5, 6, 7])
      #expect(try store.history().map(\.id) == [4, 5, 6, 7])
      #expect(try store.purgeHistory(through: told[2].token) == 0)
      // The first token names a purged write, and the second one a write that never existed. Each
      // error states the number of its write.
      for token in [told[0].token, HistoryToken(storeID: told[0].token.storeID, number: 99)] {
        let code: StoreError.Code = token.number < 99 ? .expiredHistory : .invalidQuery
        for error in [
          try storeError(code) { try store.history(.write(token)) },
          try storeError(code) { try store.write { try $0.undo(token) } },
        ] {
          #expect(error.message.contains("write \(token.number)"), "\(error)")
        }
      }
      let unknown = HistoryToken(storeID: told[0].token.storeID, number: 99)
      _ = try storeError(.invalidQuery) { try store.purgeHistory(through: unknown) }
      #expect(try store.purgeHistory(through: told[6].token) == 4)
      #expect(try store.history().isEmpty)
      #expect(try store.historyToken() == told[6].token)
      try store.insert(Clause(name: "next"))
      #expect(try store.history(.after(told[6].token)).map(\.id) == [8])
      #expect(
        try store.history(.write(HistoryToken(storeID: told[0].token.storeID, number: 8)))
          .count == 1)
    }
  }

  @Test func `purging leaves tokens that are text and read from it`() throws {
    try withWrites(0) { store, _ in
      let token = try store.historyToken()
      let text = "\(token)"
      #expect(text == "\(token.number)-\(token.storeID.uuidString)")
      #expect(HistoryToken(text) == token)
      for other in [
        "", "-", "7", "7-", "-7-\(token.storeID)", "+7-\(token.storeID)", "07-\(token.storeID)",
        "\(text)0", " \(text)", text.dropLast() + "", token.storeID.uuidString,
        "7-\(token.storeID)".lowercased(), "18446744073709551616-\(token.storeID)",
      ] {
        #expect(HistoryToken(other) == nil, "\(other)")
      }
      let most = try #require(HistoryToken("18446744073709551615-\(token.storeID)"))
      #expect(most.number == .max)
    }
  }

  @Test func `purging has an asynchronous form, which a cancelled task does not begin`()
    async throws
  {
    try await withTemporaryStore([Clause.self]) { store in
      for number in 0..<6 { _ = try await store.insert(Clause(name: "\(number)")) }
      let told = try await store.history()
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await store.purgeHistory(before: .distantFuture)
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.purgeHistory(through: told[1].token) == 2)
      let foreign = HistoryToken(storeID: told[0].token.storeID, number: 99)
      let error = await #expect(throws: StoreError.self) {
        try await store.purgeHistory(through: foreign)
      }
      #expect(error?.code == .invalidQuery)
      try await store.write { try $0.setHistoryToken(told[3].token, ofConsumer: "reader") }
      #expect(try await store.purgeConsumedHistory() == 2)
      #expect(try await store.purgeHistory(before: soon) == 2)
      #expect(try await store.history().isEmpty)
    }
  }

  @Test func `purging removes writes before a given time`() throws {
    try withWrites(2) { store, told throws in
      #expect(try store.purgeHistory(before: told[0].time) == 0)
      #expect(try store.purgeHistory(before: soon) == 4)
    }
  }

  @Test func `purging waits for the slowest consumer, up to an age`() throws {
    try withWrites(4) { store, told throws in
      #expect(try store.purgeConsumedHistory() == 0)
      try store.write { tx in
        try tx.setHistoryToken(told[3].token, ofConsumer: "widget")
        try tx.setHistoryToken(told[1].token, ofConsumer: "sync")
      }
      #expect(try store.history().count == 6)
      #expect(try store.purgeConsumedHistory() == 2)
      try store.read { snapshot throws in
        #expect(try snapshot.historyConsumers().map(\.name) == ["sync", "widget"])
        #expect(try snapshot.historyToken(ofConsumer: "widget") == told[3].token)
        #expect(try snapshot.historyToken(ofConsumer: "nobody") == nil)
      }
      try store.write { try $0.setHistoryToken(nil, ofConsumer: "sync") }
      #expect(try store.purgeConsumedHistory() == 2)
      #expect(try store.purgeConsumedHistory(andAllBefore: soon) == 2)
      _ = try storeError(.expiredHistory) {
        try store.write { try $0.setHistoryToken(told[0].token, ofConsumer: "late") }
      }
      _ = try storeError(.invalidQuery) {
        try store.write { try $0.setHistoryToken(told[5].token, ofConsumer: "") }
      }
    }
  }

  @Test func `purging removes images and tombstones`() throws {
    try withWrites(3) { store, _ in
      let entries = { () throws in
        try store.read { snapshot throws in
          let core = snapshot.access.core
          return try core.transaction.count(of: try #require(core.tree(.history)))
        }
      }
      #expect(try entries() == 5 + 4 + 1)
      try store.purgeHistory(before: Date().addingTimeInterval(1))
      #expect(try entries() == 1)
    }
  }

  @Test func `purging leaves the images of a later write under an equal number`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let ids = try store.insert((0..<4).map { Clause(name: "\($0)", text: "before") }).ids
      try store.write { tx throws in
        try tx.update(Clause.all) { $0.text = "after" }
        let entity = try tx.core.entity(Clause.self).number
        let steps = [ids[..<2], ids[2...]].enumerated().map { number, ids in
          var runs = IDRuns()
          for id in ids { runs.append(id.rawValue) }
          return WriteStep(entity: entity, ids: runs, context: "page \(number + 1)")
        }
        tx.core.recordSeparately(steps)
      }
      let told = try store.history()
      #expect(told.map(\.contextName) == [nil, "page 1", "page 2"])
      #expect(try store.purgeHistory(through: told[1].token) == 2)
      try store.read { snapshot throws in
        for change in try snapshot.history(.all).flatMap(\.changes) {
          #expect(try snapshot.value(before: change, as: Clause.self)?.text == "before")
        }
      }
    }
  }

  @Test func `purging removes the preserved values of purged writes, and no others`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let ids = try store.insert((0..<40).map { Clause(name: "\($0)") }).ids
      var numbers = SeededNumbers(salt: 5_300)
      for round in 0..<12 {
        try store.write { tx throws in
          for id in ids where numbers.below(3) == 0 {
            guard try tx.fetch(id) != nil else { continue }
            if numbers.below(4) == 0 {
              try tx.delete(id)
            } else {
              try tx.modify(id) { $0.text = "\(round)" }
            }
          }
        }
      }
      for told in try store.history() {
        let before = try keptKeys(store)
        try store.purgeHistory(through: told.token)
        let expected = before.filter { key in
          switch key._withBytes({ HistoryKey($0) }) {
          case .image(_, _, let number)?, .tombstone(_, _, let number)?: number > told.token.number
          default: false
          }
        }
        #expect(try keptKeys(store) == expected)
      }
      #expect(try keptKeys(store).isEmpty)
    }
  }

  /// The keys of stored images and of preserved values of deleted records.
  private func keptKeys(_ store: Store) throws -> [[UInt8]] {
    try store.read { snapshot throws in
      let core = snapshot.access.core
      var keys: [[UInt8]] = []
      let cursor = try Cursor(try #require(core.tree(.history)), in: core.transaction)
      try cursor.walk(KeyRange(lower: .included([2]), upper: .excluded([4]))) { key, _ in
        keys.append(Array(key))
        return true
      }
      return keys
    }
  }

  /// The run of ids has six bytes for sixteen million records, of which only one has an image.
  @Test func `the time to purge a run of ids depends on its preserved values, not on its length`()
    throws
  {
    try withTemporaryStore([Clause.self]) { store in
      try store.insert(Clause(name: "a"))
      try store.update(Clause.all) { $0.text = "x" }
      let count = UInt64(1 << 24)
      try store.core.write { core in
        let tree = try #require(core.tree(.history))
        let key = HistoryKey.part(write: 2, part: 0).bytes
        let body = Array(try #require(try core.transaction.get(key, in: tree)))
        var part = try body[4...]._withBytes { try HistoryPart(decoding: $0) }
        let clause = try core.entity(named: "Clause")
        part.changes.append(
          .init(entity: clause.number, kind: .deleted, ids: IDRuns([2..<count])))
        let content = part.encoded
        try core.writing.put(key, Checksum.sealed(key: key, content: content), in: tree)
        try core.writing.put(
          CounterKey.nextRecord(entity: clause.number), littleEndianBytes(count),
          in: core.store.trees.counters)
      }
      let token = try #require(try store.history(.all.withoutChanges()).last?.token)
      let time = try processorTime { try store.purgeHistory(through: token) }
      #expect(time < .seconds(2), "\(time)")
      #expect(try keptKeys(store).isEmpty)
    }
  }

  @Test func `purging refuses tokens of other stores, and of newer copies`() throws {
    try withWrites(1) { store, told throws in
      let foreign = HistoryToken(storeID: UUID(), number: 1)
      _ = try storeError(.invalidQuery) { try store.history(.after(foreign)) }
      _ = try storeError(.invalidQuery) { try store.purgeHistory(through: foreign) }
      let later = HistoryToken(storeID: told[0].token.storeID, number: 99)
      _ = try storeError(.invalidQuery) { try store.history(.after(later)) }
      let copy = try JSONDecoder().decode(
        HistoryToken.self, from: JSONEncoder().encode(told[0].token))
      #expect(copy == told[0].token && copy < told[1].token)
    }
  }
}
