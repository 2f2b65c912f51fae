/// What a transaction works with: opaque.
@_documentation(visibility: internal)
public struct TransactionAccess {
  let core: TransactionCore
}

/// What can be read in a ``Snapshot`` and in a ``WriteTransaction``.
///
/// Do not conform to it.
public protocol ReadableTransaction: ~Copyable {
  /// The library's own part; nothing for others.
  @_documentation(visibility: internal)
  var access: TransactionAccess { get }
}
