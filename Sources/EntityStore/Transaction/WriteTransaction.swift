/// The changes of one write, all or nothing; sees its own changes.
///
/// It cannot outlive the closure that it is passed to. An error of a single call leaves the transaction as it was
/// before the call, unless it says otherwise; thrown out of the closure, it takes everything
/// back.
public struct WriteTransaction: ~Copyable, ReadableTransaction {
  /// The library's own part; nothing for others.
  @_documentation(visibility: internal)
  public var access: TransactionAccess {
    @_lifetime(borrow self) get {
      _overrideLifetime(TransactionAccess(core: core), borrowing: self)
    }
  }

  private let kept: KeptCore<WriteCore>
  var core: WriteCore { kept.core }

  init(core: WriteCore) { kept = KeptCore(core: core) }
}
