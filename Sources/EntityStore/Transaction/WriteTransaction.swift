/// The changes of one write, which are committed together or not at all.
///
/// Reads in the transaction see its own changes. The transaction cannot outlive the closure that
/// receives it. When a single call throws, the transaction is as it was before the call, unless the
/// call documents otherwise. When the closure throws, all changes are undone.
public struct WriteTransaction: ~Copyable, ReadableTransaction {
  /// The library's implementation; programs cannot use it.
  @_documentation(visibility: internal)
  public var access: TransactionAccess {
    @_lifetime(borrow self) get {
      _overrideLifetime(TransactionAccess(core: core), borrowing: self)
    }
  }

  private let kept: TransactionStorage<WriteCore>
  var core: WriteCore { kept.core }

  init(core: WriteCore) { kept = TransactionStorage(core: core) }
}
