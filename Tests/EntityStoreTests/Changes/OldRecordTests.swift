import Foundation
import LodestoreFormat
import Synchronization
import Testing

@testable import EntityStore

/// Sinks read the bytes of records in the file's pages, or copies of these bytes.
@Suite struct `Records that sinks read` {
  @Test(arguments: [false, true])
  func `sinks read copies of records if an earlier sink may have written to the file`(
    _ writes: Bool
  ) throws {
    try withTemporaryStore([Film.self]) { store in
      let films = try store.write { tx in
        try (1...6).map { try tx.insert(Film(title: "film \($0)", episode: $0)) }
      }
      let seen = SeenRecords()
      let inserted = SeenRecords()
      _ = store.core.observers.add { WritingSink($0, writes: writes) }
      _ = store.core.observers.add { LookingSink($0, seen, inserted) }
      try store.write { tx in
        var film = films[0]
        film.title = "updated"
        try tx.update(film)
        _ = try tx.update(Film.where { $0.episode == 2 }) { $0.title = "updated" }
        try tx.insert([Film(title: "merged", episode: 3)], onConflict: .replace)
        try tx.delete(films[3].id)
        _ = try tx.delete(Film.where { $0.episode == 5 })
        _ = try tx.delete(Film.all)
        try tx.insert([Film(title: "film 7", episode: 7), Film(title: "film 8", episode: 8)])
      }
      let titles = seen.records.map(\.title)
      #expect(titles.prefix(5) == (1...5).map { "film \($0)" }[...])
      #expect(titles.suffix(4) == ["updated", "updated", "merged", "film 6"])
      #expect(seen.records.allSatisfy { $0.isCopy == writes }, "\(seen.records)")
      // A bulk insert writes its records to the file before sinks read them.
      #expect(inserted.records.map(\.title).suffix(2) == ["film 7", "film 8"])
      #expect(inserted.records.suffix(2).allSatisfy { $0.isCopy == writes }, "\(inserted.records)")
    }
  }
}

/// The records that a sink has read: the title, and whether the bytes were a copy.
private final class SeenRecords: Sendable {
  private let list = Mutex<[(title: String, isCopy: Bool)]>([])

  var records: [(title: String, isCopy: Bool)] { list.withLock { $0 } }

  func note(_ title: String, isCopy: Bool) { list.withLock { $0.append((title, isCopy)) } }
}

/// A sink that puts a pair into a bucket whenever a record changes.
private final class WritingSink: ChangeSink {
  let name = "a writer"
  let writesOnRecord: Bool
  private unowned let core: WriteCore

  init(_ core: WriteCore, writes: Bool) {
    self.core = core
    writesOnRecord = writes
  }

  func interest(in _: StoredEntity) -> ChangeInterest? { .eachRemoval }

  func record(_ change: RecordChange, of _: StoredEntity) throws(StoreError) {
    guard writesOnRecord else { return }
    var transaction = WriteTransaction(core: core)
    try transaction.put(Data([1]), for: "a change", in: "changes")
  }
}

/// A sink that notes whether the bytes of old and new records are in the file's pages.
private final class LookingSink: ChangeSink {
  let name = "a reader"
  private unowned let core: WriteCore
  private let seen: SeenRecords
  private let inserted: SeenRecords

  init(_ core: WriteCore, _ seen: SeenRecords, _ inserted: SeenRecords) {
    self.core = core
    self.seen = seen
    self.inserted = inserted
  }

  func interest(in _: StoredEntity) -> ChangeInterest? { [.oldRecord, .newRecord] }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    switch change {
    case .updated(let id, let old?, _, _), .removed(let id, let old?):
      let stored = try core.record(id, of: entity)
      guard case .string(let title) = try entity.values(of: old, id: id)[0] else { return }
      seen.note(title, isCopy: old.bytes.baseAddress != stored?.baseAddress)
    case .insertedRecord(let id, let new):
      guard let stored = try core.record(id, of: entity),
        case .string(let title) = try entity.values(of: new, id: id)[0]
      else { return }
      inserted.note(title, isCopy: new.bytes.baseAddress != stored.baseAddress)
    case .updated, .removed, .inserted, .cleared: break
    }
  }
}
