/// What a transaction works with: opaque, and not to be kept beyond it.
@_documentation(visibility: internal)
public struct TransactionAccess: ~Copyable, ~Escapable {
  let core: TransactionCore

  @_lifetime(immortal)
  init(core: TransactionCore) { self.core = core }
}

/// What can be read in a ``Snapshot`` and in a ``WriteTransaction``.
///
/// Do not conform to it.
public protocol ReadableTransaction: ~Copyable {
  /// The library's own part; nothing for others.
  @_documentation(visibility: internal)
  var access: TransactionAccess { @_lifetime(borrow self) get }
}
