import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// A sink that refuses a change, in a write whose closure catches the error.
@Suite struct `A change of one record that a sink refuses` {
  /// When a sink refuses a change, earlier sinks have already noted it although it is not made.
  @Test func `an update that a sink refuses ends the write`() throws {
    try withTemporaryStore([Film.self]) { store in
      var film = Film(title: "a", episode: 1)
      film.id = try store.write { try $0.insert(film).id }
      let recording = ChangeRecording(.attributes)
      recording.listen(to: store)
      _ = store.core.observers.add { _ in RefusingSink() }
      film.title = "b"
      let error = try storeError(.brokenTransaction) {
        try store.write { tx in
          let refusal = #expect(throws: StoreError.self) { try tx.update(film) }
          #expect(refusal?.code == .conditionFailed)
          try tx.insert(Film(title: "c", episode: 2))
        }
      }
      #expect((error.cause as? StoreError)?.code == .conditionFailed)
      #expect(recording.changes.isEmpty)
      #expect(try store.fetch(Film.all).map(\.title) == ["a"])
    }
  }

  @Test func `a delete that a sink refuses is omitted from the write`() throws {
    try withTemporaryStore([Film.self]) { store in
      let id = try store.write { try $0.insert(Film(title: "a", episode: 1)).id }
      let recording = ChangeRecording(.eachRemoval)
      recording.listen(to: store)
      _ = store.core.observers.add { _ in RefusingSink() }
      try store.write { tx in
        let refusal = #expect(throws: StoreError.self) { try tx.delete(id) }
        #expect(refusal?.code == .conditionFailed)
        try tx.insert(Film(title: "c", episode: 2))
      }
      #expect(recording.changes.map(\.description) == ["inserted Film 2"])
      #expect(try store.fetch(Film.all).map(\.title) == ["a", "c"])
    }
  }

  /// The damaged mark is read only after the sinks have received the change.
  @Test func `a change that a damaged mark refuses is not in the history`() throws {
    try withTemporaryStore([Film.self], options: .history(.changes)) { store in
      var film = Film(title: "a", episode: 1)
      film.id = try store.write { try $0.insert(film).id }
      let entity = try store.read { try $0.access.core.entity(Film.self).number }
      let mark = HeaderField.changes(entity: entity)
      func putMark(_ bytes: [UInt8]) throws {
        try store.core.write { try $0.writing.put(mark, bytes, in: $0.store.trees.header) }
      }
      try putMark([UInt8](repeating: 0, count: 7))
      film.title = "b"
      for change: (inout WriteTransaction) throws -> Void in [
        { try $0.update(film) }, { _ = try $0.delete(film.id) },
      ] {
        _ = try? store.write { tx in
          #expect(throws: StoreError.self) { try change(&tx) }
          try tx.insert(Film(title: "c", episode: 2))
        }
      }
      try putMark([UInt8](repeating: 0, count: 8))
      for entry in try store.history() {
        #expect(entry.changes.allSatisfy { $0.kind != .updated && $0.kind != .deleted }, "\(entry)")
      }
      #expect(try store.fetch(Film.all).first?.title == "a")
    }
  }
}

/// A sink that refuses updates and deletes.
private final class RefusingSink: ChangeSink {
  let name = "a refusal"

  func interest(in _: StoredEntity) -> ChangeInterest? { .eachRemoval }

  func record(_ change: RecordChange, of _: StoredEntity) throws(StoreError) {
    switch change {
    case .inserted, .insertedRecord: break
    case .updated, .removed, .cleared:
      throw StoreError(.conditionFailed, "cannot change the record: a sink refuses it")
    }
  }
}
