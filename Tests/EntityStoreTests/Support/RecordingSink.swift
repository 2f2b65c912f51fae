import LodestoreFormat
import Synchronization

@testable import EntityStore

/// The changes of committed writes that a sink received, one by one.
final class ChangeRecording: Sendable {
  /// One change of one record, or the removal of all records.
  struct Change: Equatable, Sendable, CustomStringConvertible {
    enum Kind: Equatable, Sendable { case inserted, updated, removed, cleared(Int) }

    var kind: Kind
    var entity: String
    var id: UInt64 = 0
    var old: [Value]?
    var new: [Value]?
    /// The names of the changed attributes.
    var attributes: [String]?

    var description: String { "\(kind) \(entity) \(id)" }
  }

  struct Write: Sendable {
    var committed: CommittedWrite
    var changes: [Change]
    /// The number of ranges in which inserted records without bytes were reported.
    var runCount: Int
  }

  private let writes = Mutex<[Write]>([])
  private let runs = Mutex(0)
  let interest: ChangeInterest
  private let entities: Set<String>?

  /// - Parameter entities: The names of the entities whose changes the sink requests; `nil` for
  ///   all.
  init(_ interest: ChangeInterest, entities: Set<String>? = nil) {
    self.interest = interest
    self.entities = entities
  }

  /// The changes of each committed write, in the order of commits.
  var committed: [Write] { writes.withLock { $0 } }

  var changes: [Change] { committed.flatMap(\.changes) }

  /// The number of runs of closures for which a sink was made, committed or not.
  var runCount: Int { runs.withLock { $0 } }

  func forget() { writes.withLock { $0 = [] } }

  /// Listens to all writes of the store's file, until the key is removed.
  @discardableResult
  func listen(to store: Store) -> Int {
    store.core.observers.add { _ in
      self.runs.withLock { $0 += 1 }
      return Sink(self)
    }
  }

  private final class Sink: ChangeSink {
    let name = "a recording"
    private let recording: ChangeRecording
    private var changes: [Change] = []
    private var runCount = 0

    init(_ recording: ChangeRecording) { self.recording = recording }

    func interest(in entity: StoredEntity) -> ChangeInterest? {
      recording.entities?.contains(entity.name) == false ? nil : recording.interest
    }

    func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
      do {
        try note(change, of: entity)
      } catch {
        throw StoreError(wrapping: error)
      }
    }

    private func note(_ change: RecordChange, of entity: StoredEntity) throws {
      let name = entity.name
      switch change {
      case .inserted(let ids):
        runCount += 1
        changes += ids.map { Change(kind: .inserted, entity: name, id: $0) }
      case .insertedRecord(let id, let view):
        changes.append(
          Change(kind: .inserted, entity: name, id: id, new: try entity.values(of: view)))
      case .updated(let id, let old, let new, let attributes):
        changes.append(
          Change(
            kind: .updated, entity: name, id: id, old: try old.map { try entity.values(of: $0) },
            new: try new.map { try entity.values(of: $0) },
            attributes: attributes?.positions.map {
              entity.description.declaredAttributes[$0].name
            }))
      case .removed(let id, let old):
        changes.append(
          Change(
            kind: .removed, entity: name, id: id, old: try old.map { try entity.values(of: $0) }))
      case .cleared(let count):
        changes.append(Change(kind: .cleared(count), entity: name))
      }
    }

    func committed(_ write: CommittedWrite) {
      let done = Write(committed: write, changes: changes, runCount: runCount)
      recording.writes.withLock { $0.append(done) }
    }
  }
}
