import Foundation
import Testing

@testable import EntityStore

/// A sink that refuses a change, in a write whose closure catches the error.
@Suite struct `A change of one record that a sink refuses` {
  /// Sinks that hear of changes before the refusing one have noted a change that is not made.
  @Test func `ends the write where it is an update`() throws {
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

  @Test func `is left out of the write where it is a delete`() throws {
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
}

/// Refuses updates and deletes.
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
