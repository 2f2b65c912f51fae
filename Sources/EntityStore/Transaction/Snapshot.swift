/// An unchanging view of a store, as of one commit.
///
///     let pods = try store.read { snapshot in
///       try snapshot.fetch(Pod.index(\.name, \.version), key: "AFNetworking", "1.0")
///     }
///
/// It cannot outlive the closure that it is passed to. What it returns owns its bytes. The calls
/// are those of ``ReadableTransaction``.
public struct Snapshot: ~Copyable, ReadableTransaction {
  /// The library's own part; nothing for others.
  public let access: TransactionAccess

  init(core: TransactionCore) { access = TransactionAccess(core: core) }
}

/// The changes of one write, all or nothing; sees its own changes.
///
/// It cannot outlive the closure that it is passed to. An error of a single call leaves the transaction as it was
/// before the call, unless it says otherwise; thrown out of the closure, it takes everything
/// back.
public struct WriteTransaction: ~Copyable, ReadableTransaction {
  /// The library's own part; nothing for others.
  public let access: TransactionAccess

  var core: TransactionCore { access.core }

  init(core: TransactionCore) { access = TransactionAccess(core: core) }
}

/// What a transaction works with: opaque.
public struct TransactionAccess {
  let core: TransactionCore
}

/// What can be read in a ``Snapshot`` and in a ``WriteTransaction``.
///
/// Do not conform to it.
public protocol ReadableTransaction: ~Copyable {
  /// The library's own part; nothing for others.
  var access: TransactionAccess { get }
}
