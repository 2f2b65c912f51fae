internal import LMDB
internal import LodestoreFormat

/// What one write has changed, as told right behind its commit.
public struct CommittedWriteChanges: Sendable {
  /// The number of the commit; a read that sees it or a later one sees the write.
  public let generation: CommitNumber
  /// Who wrote.
  public let author: String?
  /// What part of the program wrote.
  public let contextName: String?
  /// What happened to records.
  ///
  /// Their ``HistoryChange/transaction`` is 0: the history may tell of them or not.
  public let changes: HistoryChanges
}

/// A closure that is called behind each commit, for as long as this is referenced; see
/// ``Store/onCommit(_:)``.
public final class CommitHook: Sendable {
  private let observers: ChangeObservers
  private let key: Guarded<Int?>

  fileprivate init(_ observers: ChangeObservers, _ key: Int) {
    self.observers = observers
    self.key = Guarded(key)
  }

  deinit { cancel() }

  /// Has the closure not be called for writes that begin from now on.
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
  /// Has `body` called after each write of this process that has changed records, when the disk has it and before
  /// the next write begins, in the order of writes.
  ///
  /// On the writer's thread, which waits: keep it short. It may read; a write from it is refused as a nested
  /// one. For what may come later, and for other processes, there are ``updates(of:)-(Query<E>)`` and the history.
  public func onCommit(
    _ body: @escaping @Sendable (CommittedWriteChanges) -> Void
  ) -> CommitHook {
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
        generation: write.commit, author: core.origin.author, contextName: core.origin.context,
        changes: HistoryChanges(groups: groups, transaction: 0, image: 0)))
  }
}
