/// The implementation of a transaction; an opaque value, which must not be used beyond the
/// transaction.
@_documentation(visibility: internal)
public struct TransactionAccess: ~Copyable, ~Escapable {
  let core: TransactionCore

  @_lifetime(immortal)
  init(core: TransactionCore) { self.core = core }
}

/// The core of a snapshot or a write transaction.
///
/// The type exists because Swift 6.3 crashes while inlining the initializer of a noncopyable type
/// whose only member is an object.
struct TransactionStorage<Core: TransactionCore> {
  let core: Core
}

/// The calls for reading in a ``Snapshot`` and in a ``WriteTransaction``.
///
/// Do not conform to this protocol.
public protocol ReadableTransaction: ~Copyable {
  /// The library's implementation; programs cannot use it.
  @_documentation(visibility: internal)
  var access: TransactionAccess { @_lifetime(borrow self) get }
}
