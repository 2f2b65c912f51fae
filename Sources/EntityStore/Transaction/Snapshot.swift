/// An immutable view of a store, as of one commit.
///
///     let pods = try store.read { snapshot in
///       try snapshot.fetch(Pod.index(\.name, \.version), key: "AFNetworking", "1.0")
///     }
///
/// A snapshot cannot outlive the closure that receives it. Returned values own their memory. The
/// calls are those of ``ReadableTransaction``.
public struct Snapshot: ~Copyable, ReadableTransaction {
  /// The library's implementation; programs cannot use it.
  @_documentation(visibility: internal)
  public var access: TransactionAccess {
    @_lifetime(borrow self) get {
      _overrideLifetime(TransactionAccess(core: core), borrowing: self)
    }
  }

  private let kept: TransactionStorage<TransactionCore>
  var core: TransactionCore { kept.core }

  init(core: TransactionCore) { kept = TransactionStorage(core: core) }
}
