/// What a transaction works with: opaque, and not to be kept beyond it.
@_documentation(visibility: internal)
public struct TransactionAccess: ~Copyable, ~Escapable {
  let core: TransactionCore

  @_lifetime(immortal)
  init(core: TransactionCore) { self.core = core }
}

/// What a snapshot or a write transaction holds.
///
/// A type of its own: Swift 6.3 crashes while it inlines the initializer of a type that cannot be copied and has
/// an object as its only part.
struct KeptCore<Core: TransactionCore> {
  let core: Core
}

/// What can be read in a ``Snapshot`` and in a ``WriteTransaction``.
///
/// Do not conform to it.
public protocol ReadableTransaction: ~Copyable {
  /// The library's own part; nothing for others.
  @_documentation(visibility: internal)
  var access: TransactionAccess { @_lifetime(borrow self) get }
}
