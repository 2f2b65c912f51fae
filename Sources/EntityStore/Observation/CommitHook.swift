internal import LMDB
internal import LodestoreFormat

/// The changes of one write, reported directly after its commit.
public struct CommittedWriteChanges: Sendable {
  /// The number of the commit; a read of this commit or a later one sees the write.
  public let commitNumber: CommitNumber
  /// The author of the write.
  public let author: String?
  /// The part of the program that wrote.
  public let contextName: String?
  /// The changes of records.
  ///
  /// Their ``HistoryChange/transaction`` is 0, because the history need not contain them.
  public let changes: HistoryChanges
}

/// A registration of a closure that is called after each commit; see ``Store/onCommit(_:)``.
///
/// Releasing the object cancels the registration.
public final class CommitHook: Sendable {
  private let observers: ChangeObservers
  private let key: Guarded<Int?>

  fileprivate init(_ observers: ChangeObservers, _ key: Int) {
    self.observers = observers
    self.key = Guarded(key)
  }

  deinit { cancel() }

  /// Cancels the registration: the closure is not called for writes that begin later.
  public func cancel() {
    if let key = key.withLock({ key in
      defer { key = nil }
      return key
    }) {
      observers.remove(key)
    }
  }
}

extension Store {
  /// Registers `body` to be called after each write of this process that changes records.
  ///
  /// The call happens after the write is on disk and before the next write begins, in the order of
  /// the writes. The writer's thread makes the call and waits for it, so keep it short. `body` may
  /// read; a write inside it is refused as a nested write. For work that may run later, and for
  /// changes of other processes, use ``updates(of:)-(Query<E>)`` or the history.
  public func onCommit(_ body: @escaping @Sendable (CommittedWriteChanges) -> Void) -> CommitHook {
    let observers = core.observers
    return CommitHook(observers, observers.add { CommitSink($0, body) })
  }
}

private final class CommitSink: ChangeSink {
  let name = "a commit hook"
  private let core: WriteCore
  private let body: @Sendable (CommittedWriteChanges) -> Void
  private var changes: [EntityNumber: NetChanges] = [:]

  init(_ core: WriteCore, _ body: @escaping @Sendable (CommittedWriteChanges) -> Void) {
    self.core = core
    self.body = body
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? { [.attributes, .eachRemoval] }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    changes.note(change, of: entity)
  }

  func committed(_ write: CommittedWrite) {
    var groups: [HistoryChanges.Group] = []
    for (_, changes) in changes.sorted(by: { $0.key < $1.key }) {
      let set = changes.result()
      let entity = set.entity
      func add(_ kind: HistoryChange.Kind, _ attributes: [String], _ ids: IDRuns) {
        if ids.isEmpty { return }
        groups.append(
          HistoryChanges.Group(
            entity: entity.name, entityNumber: entity.number.rawValue, kind: kind,
            attributes: attributes, ids: ids))
      }
      add(.inserted, [], set.inserted)
      for (attributes, ids) in set.updated {
        add(
          .updated,
          attributes.positions.map { position in
            let number = entity.layout.attributes[position].number
            return entity.description.attribute(number: number)?.name ?? ""
          }, ids)
      }
      add(.deleted, [], set.deleted)
    }
    guard !groups.isEmpty else { return }
    body(
      CommittedWriteChanges(
        commitNumber: write.commit, author: core.origin.author, contextName: core.origin.context,
        changes: HistoryChanges(groups: groups, write: 0, image: 0)))
  }
}
