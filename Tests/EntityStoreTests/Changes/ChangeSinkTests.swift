import Foundation
import LodestoreFormat
import Synchronization
import Testing

@testable import EntityStore

@Suite struct `What sinks are told of changes` {
  private typealias Change = ChangeRecording.Change

  private let everything: ChangeInterest = [.oldRecord, .newRecord, .attributes, .eachRemoval]

  private func values(_ film: Film) -> [Value] {
    [
      .string(film.title), .integer(Int64(film.episode)), film.code.map { .string($0) } ?? .null,
      film.released.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null,
    ]
  }

  @Test func `sinks hear of an insert, an update and a delete with the bytes on both sides`() throws
  {
    try withTemporaryStore([Film.self]) { store in
      let recording = ChangeRecording(everything)
      recording.listen(to: store)
      let first = Film(title: "a", episode: 1)
      let id = try store.write { try $0.insert(first).id }
      var second = first
      second.id = id
      second.title = "b"
      second.code = "x"
      let isChanged = try store.write { tx in [try tx.update(second), try tx.update(second)] }
      #expect(isChanged == [true, false])
      try store.write { _ = try $0.delete(id) }
      let number = id.rawValue
      #expect(
        recording.changes == [
          Change(kind: .inserted, entity: "Film", id: number, new: values(first)),
          Change(
            kind: .updated, entity: "Film", id: number, old: values(first), new: values(second),
            attributes: ["title", "code"]),
          Change(kind: .removed, entity: "Film", id: number, old: values(second)),
        ])
    }
  }

  @Test func `sinks that need no bytes hear of a batch of new records as one run of ids`() throws {
    try withTemporaryStore([Film.self]) { store in
      let ids = ChangeRecording([])
      let bytes = ChangeRecording(.newRecord)
      ids.listen(to: store)
      bytes.listen(to: store)
      // The batch fills several blocks of records, and is large enough for a second thread to
      // collect entries.
      let films = (0..<30_000).map { Film(title: "t\($0 % 7)", episode: $0) }
      try store.write { try $0.insert(films) }
      #expect(ids.committed.map(\.runCount) == [1])
      #expect(ids.changes.map(\.id) == Array(1...30_000))
      #expect(ids.changes.allSatisfy { $0.new == nil })
      #expect(bytes.changes.map(\.new) == films.map(values))
      #expect(bytes.changes.map(\.id) == Array(1...30_000))
    }
  }

  @Test func `sinks keep no trace of a refused batch`() throws {
    try withTemporaryStore([Film.self]) { store in
      let recording = ChangeRecording(everything)
      recording.listen(to: store)
      try store.write { tx in
        try tx.insert(Film(title: "stays", episode: 7))
        let doubled = (0..<20).map { Film(title: "t", episode: $0) }
        let error = #expect(throws: StoreError.self) { try tx.insert(doubled) }
        #expect(error?.code == .uniqueViolation)
      }
      #expect(recording.changes.map(\.description) == ["inserted Film 1"])
    }
  }

  @Test func `sinks keep no trace of a failed write, and one trace of a write that runs again`()
    async throws
  {
    struct Refusal: Error {}
    var options = StoreOptions()
    options.mapSizeInBytes = 1 << 20
    try await withTemporaryStore([Film.self], options: options) { store in
      let recording = ChangeRecording([])
      recording.listen(to: store)
      await #expect(throws: Refusal.self) {
        try await store.write { tx in
          try tx.insert(Film(title: "a", episode: 1))
          throw Refusal()
        }
      }
      #expect(recording.committed.isEmpty)
      // The map is too small for the write, so the closure runs several times.
      let runs = recording.runCount
      try await store.write { tx in
        let long = String(repeating: "x", count: 400)
        try tx.insert((0..<20_000).map { Film(title: long, episode: $0) })
      }
      #expect(recording.runCount > runs + 1)
      #expect(recording.committed.count == 1 && recording.changes.count == 20_000)
      // Sixty-four writes share commits as a group, and some of them throw.
      recording.forget()
      let kept = try await withThrowingTaskGroup(of: Int?.self) { group in
        for task in 0..<64 {
          group.addTask {
            do {
              return try await store.write { tx in
                try tx.insert(Film(title: "b", episode: 100_000 + task))
                if task % 4 == 1 { throw Refusal() }
                return task
              }
            } catch is Refusal { return nil }
          }
        }
        return try await group.reduce(into: [Int]()) { found, task in
          if let task { found.append(task) }
        }
      }
      #expect(kept.count == 48)
      #expect(recording.committed.count == 48 && recording.changes.count == 48)
      let numbers = recording.committed.map(\.committed.number)
      #expect(numbers == numbers.sorted() && Set(numbers).count == 48)
      // Ids ascend in the order in which the writes ran.
      let ids = recording.changes.map(\.id)
      #expect(ids == ids.sorted())
    }
  }

  @Test func `sinks hear of a removal of all records once, or record by record on request`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      try store.write { tx in
        try tx.insert((0..<50).map { Film(title: "t", episode: $0) })
      }
      let once = ChangeRecording([])
      let each = ChangeRecording(.eachRemoval)
      let old = ChangeRecording(.oldRecord)
      for recording in [once, each, old] { recording.listen(to: store) }
      try store.write { try $0.delete(Film.all) }
      #expect(once.changes == [Change(kind: .cleared(50), entity: "Film")])
      #expect(each.changes.dropFirst().map(\.id) == Array(1...50))
      #expect(each.changes.dropFirst().allSatisfy { $0.kind == .removed && $0.old == nil })
      #expect(old.changes.dropFirst().allSatisfy { $0.kind == .removed && $0.old?.count == 4 })
      #expect(old.changes.count == 51)
    }
  }

  @Test func `sinks hear of batch updates, merges and deletes as their changes`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { tx in
        try tx.insert((1...6).map { Film(title: "t", episode: $0) })
      }
      let recording = ChangeRecording(.attributes)
      recording.listen(to: store)
      try store.write { tx in
        _ = try tx.update(Film.where { $0.episode <= 2 }) { $0.title = "u" }
        // The first film is stored and equal, the second is stored and differs, and the third is
        // new.
        try tx.insert(
          [
            Film(title: "t", episode: 3), Film(title: "v", episode: 4),
            Film(title: "w", episode: 9),
          ], onConflict: .replace)
        _ = try tx.delete(Film.where { $0.episode >= 5 })
      }
      let told = recording.changes.map { "\($0) \($0.attributes?.joined(separator: "+") ?? "")" }
      #expect(
        told == [
          "updated Film 1 title", "updated Film 2 title", "updated Film 4 title",
          "inserted Film 7 ", "removed Film 5 ", "removed Film 6 ", "removed Film 7 ",
        ])
    }
  }

  @Test func `sinks hear of slots changed in place with the bytes before and after`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      try store.write { try $0.insert((0..<3).map { AllTypes(int16: 1, int: $0) }) }
      let ids = ChangeRecording([])
      let bytes = ChangeRecording([.oldRecord, .newRecord, .attributes])
      ids.listen(to: store)
      bytes.listen(to: store)
      let count = try store.write {
        try $0.update(AllTypes.all) { $0.int16 = 5 }
      }
      #expect(count == 3)
      #expect(ids.changes.map(\.description) == (1...3).map { "updated AllTypes \($0)" })
      #expect(bytes.changes.allSatisfy { $0.attributes == ["int16"] })
      #expect(bytes.changes.allSatisfy { $0.old?.contains(.integer(1)) == true })
      #expect(bytes.changes.allSatisfy { $0.new?.contains(.integer(5)) == true })
    }
  }

  @Test func `sinks hear only of their entities, and a removed listener hears nothing`() throws {
    try withTemporaryStore([Film.self, AllTypes.self]) { store in
      let recording = ChangeRecording([], entities: ["AllTypes"])
      let key = recording.listen(to: store)
      try store.write { try $0.insert(Film(title: "a", episode: 1)) }
      #expect(recording.committed.isEmpty)
      try store.write { try $0.insert(AllTypes()) }
      #expect(recording.changes.map(\.description) == ["inserted AllTypes 1"])
      store.core.observers.remove(key)
      try store.write { try $0.insert(AllTypes()) }
      #expect(recording.changes.count == 1)
    }
  }

  @Test func `two stores of one file report to the same listeners`() throws {
    try withTemporaryPath { path in
      let first = try Store(at: path, entities: [Film.self])
      let second = try Store(at: path, entities: [Film.self])
      let recording = ChangeRecording([])
      recording.listen(to: first)
      try second.write { try $0.insert(Film(title: "a", episode: 1)) }
      #expect(recording.changes.map(\.description) == ["inserted Film 1"])
      first.close()
      second.close()
    }
  }

  @Test func `sinks hear of a commit once a new read sees it, and before the next write`() throws {
    try withTemporaryStore([Film.self]) { store in
      let seen = Collected<Int>()
      _ = store.core.observers.add { _ in
        CountingSink { try? seen.append(store.read { try $0.count(Film.all) }) }
      }
      for episode in 1...5 { try store.write { try $0.insert(Film(title: "a", episode: episode)) } }
      #expect(seen.values == [1, 2, 3, 4, 5])
    }
  }

  @Test func `changes of a sink are kept with the write and reported to all sinks`() throws {
    try withTemporaryStore([Film.self, AllTypes.self]) { store in
      let recording = ChangeRecording([])
      _ = store.core.observers.add { _ in CopyingSink() }
      recording.listen(to: store)
      try store.write { try $0.insert((1...3).map { Film(title: "a", episode: $0) }) }
      #expect(
        recording.changes.map(\.description) == (1...3).map { "inserted Film \($0)" }
          + ["inserted AllTypes 1"])
      let counts = try store.read { try $0.fetch(AllTypes.all).map(\.int) }
      #expect(counts == [3])
    }
  }

  @Test func `sinks that answer each other endlessly are refused by name`() throws {
    try withTemporaryStore([Film.self]) { store in
      let key = store.core.observers.add { _ in EndlessSink() }
      let error = try storeError(.endlessChanges) {
        try store.write { try $0.insert(Film(title: "a", episode: 0)) }
      }
      #expect(error.message.contains("an endless one still change Film after 32 rounds"))
      store.core.observers.remove(key)
      let count = try store.read { try $0.count(Film.all) }
      #expect(count == 0)
    }
  }
}

/// A sink that runs a closure when its write is committed.
private final class CountingSink: ChangeSink {
  let name = "a count"
  private let body: () -> Void

  init(_ body: @escaping () -> Void) { self.body = body }

  func interest(in _: StoredEntity) -> ChangeInterest? { [] }
  func record(_: RecordChange, of _: StoredEntity) {}
  func committed(_: CommittedWrite) { body() }
}

/// A sink that stores, in a record of another entity, the number of films that a write has
/// inserted.
private final class CopyingSink: ChangeSink {
  let name = "a copy"
  private var count = 0

  func interest(in entity: StoredEntity) -> ChangeInterest? { entity.name == "Film" ? [] : nil }

  func record(_ change: RecordChange, of _: StoredEntity) {
    if case .inserted(let ids) = change { count += ids.count }
  }

  func flush(_ core: WriteCore) throws(StoreError) {
    guard count > 0 else { return }
    var transaction = WriteTransaction(core: core)
    try transaction.insert(AllTypes(int: count))
    count = 0
  }
}

/// Inserts a film whenever one has been inserted.
private final class EndlessSink: ChangeSink {
  let name = "an endless one"
  private var episode = 0

  func interest(in _: StoredEntity) -> ChangeInterest? { [] }
  func record(_: RecordChange, of _: StoredEntity) {}

  func flush(_ core: WriteCore) throws(StoreError) {
    episode += 1
    var transaction = WriteTransaction(core: core)
    try transaction.insert(Film(title: "b", episode: episode))
  }
}

/// Values that a closure of another thread adds to.
private final class Collected<Value: Sendable>: Sendable {
  private let list = Mutex<[Value]>([])

  var values: [Value] { list.withLock { $0 } }

  func append(_ value: Value) { list.withLock { $0.append(value) } }
}
