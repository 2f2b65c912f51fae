internal import LMDB
internal import LodestoreFormat

/// A change of one record, as a ``ChangeHook`` receives it before the commit.
public enum EntityChange<E: Entity>: Sendable {
  /// A new record.
  case insert(E)
  /// A record with changed values.
  case update(from: E, to: E)
  /// A deleted record.
  case delete(E)
}

/// A program's check of each change of an entity, registered with ``Store/beforeChanges(of:_:)``.
///
///     store.beforeChanges(of: Account.self) { change in
///       if case .delete(let account) = change, account.balance != 0 {
///         throw RuleViolation("an account with money cannot be closed", attribute: "balance")
///       }
///     }
///
/// The check is called for every change of the entity's records by this process. The store that
/// makes the change must have been opened with this type. Changes may come from single writes,
/// batches, imports, relationships and derived attributes. Other programs, including `kvdump`, do
/// not run the check.
///
/// The check runs on the writer's thread inside the write, so it must be fast, and cannot write.
/// Its errors are collected. After the closure has ended, the write is refused with
/// ``StoreError/Code/invalidValue``, with all errors in ``StoreError/violations``. An error of
/// another type is also the ``StoreError/cause``. A write that runs again is checked again.
///
/// The store keeps the check until ``cancel()``, or until the store is closed or deallocated. A
/// check that captures the store strongly keeps it open until then.
public final class ChangeHook: Sendable {
  private let observers: ChangeObservers
  private let key: Int

  fileprivate init(_ observers: ChangeObservers, _ key: Int) {
    self.observers = observers
    self.key = key
  }

  /// Ends the checks; writes that are already running are still checked.
  public func cancel() { observers.remove(key) }
}

extension Store {
  /// Calls `check` with each change of a record of `E`, until the returned hook is cancelled or the
  /// store is closed.
  ///
  /// See ``ChangeHook``. For every such change, the record is decoded before and after the change.
  ///
  /// - Returns: the hook, which can cancel the checks; you need not keep it.
  @discardableResult
  public func beforeChanges<E: Entity>(
    of type: E.Type, _ check: @escaping @Sendable (EntityChange<E>) throws -> Void
  ) -> ChangeHook {
    let observers = core.observers
    let checks = companions.companion { ChangeChecks(observers) }
    return ChangeHook(observers, checks.add { core in HookSink(core: core, check) })
  }
}

/// The checks of one store, which end when it is closed.
private final class ChangeChecks: StoreCompanion {
  private let observers: ChangeObservers
  private let keys = Guarded<[Int]>([])

  init(_ observers: ChangeObservers) { self.observers = observers }

  deinit { close() }

  func add(_ make: @escaping ChangeObservers.MakeSink) -> Int {
    let key = observers.add(make)
    keys.withLock { $0.append(key) }
    return key
  }

  func close() {
    let ended = keys.withLock { keys in
      defer { keys = [] }
      return keys
    }
    for key in ended { observers.remove(key) }
  }
}

/// Calls a hook with the changes of one run of a write.
private final class HookSink<E: Entity>: ChangeSink {
  let name = "hooks"
  private unowned(unsafe) let core: WriteCore
  private let check: @Sendable (EntityChange<E>) throws -> Void
  private var violations: [RuleViolation] = []
  private var cause: (any Error)?
  /// The entity with this program's type; `nil` when the store does not have the entity.
  private let entity: StoredEntity?
  /// The error if the stored entity does not fit this program's type; each change of the entity is
  /// then refused with it.
  private let misfit: StoreError?

  init(core: WriteCore, _ check: @escaping @Sendable (EntityChange<E>) throws -> Void) {
    self.core = core
    self.check = check
    do throws(StoreError) {
      entity = try core.entity(E.self)
      misfit = nil
    } catch {
      entity = nil
      misfit = error.code == .unknownEntity ? nil : error
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    if misfit != nil, entity.name == E.schema.name { return [.oldRecord, .newRecord] }
    return entity === self.entity ? [.oldRecord, .newRecord] : nil
  }

  func record(_ change: RecordChange, of _: StoredEntity) throws(StoreError) {
    if let misfit { throw misfit }
    switch change {
    case .insertedRecord(let id, let new): try call(.insert(try value(new, id)), id)
    case .updated(let id, let old?, let new?, _):
      try call(.update(from: try value(old, id), to: try value(new, id)), id)
    case .removed(let id, let old?): try call(.delete(try value(old, id)), id)
    case .inserted, .updated, .removed, .cleared: break
    }
  }

  private func value(_ view: RecordView, _ id: UInt64) throws(StoreError) -> E {
    guard let entity else { throw .unknownEntity(E.schema.name, known: []) }
    return try core.withDecodingLayout(view, id: id, of: entity) { (view) throws(StoreError) in
      try core.decode(E.self, view, id: id, of: entity)
    }
  }

  private func call(_ change: EntityChange<E>, _ id: UInt64) throws(StoreError) {
    do {
      try check(change)
    } catch {
      var violation = error as? RuleViolation ?? RuleViolation("\(error)")
      if !(error is RuleViolation) { cause = cause ?? error }
      violation.entity = E.schema.name
      violation.recordID = id
      violations.append(violation)
      if violations.count >= StoreError.mostViolations { try refuse() }
    }
  }

  func flush(_: WriteCore) throws(StoreError) { try refuse() }

  private func refuse() throws(StoreError) {
    guard !violations.isEmpty else { return }
    var error = StoreError.refusedByHook(violations)
    error.cause = cause
    throw error
  }
}

extension StoreError {
  fileprivate static func refusedByHook(_ violations: [RuleViolation]) -> StoreError {
    let first = violations[0]
    let others = violations.count - 1
    let more = others == 0 ? "" : ", and \(others) more broken rule\(others == 1 ? "" : "s")"
    var error = StoreError(
      .invalidValue, "cannot commit: \(first)\(more)", entity: first.entity,
      attribute: first.attribute, recordID: first.recordID)
    error.violations = violations
    return error
  }
}
