import LodestoreBytes
internal import LodestorePages

/// A transaction of an environment that is read without LMDB.
extension Transaction {
  /// The direct read of the pages; `nil` if LMDB reads.
  @inline(__always)
  var pageRead: PageRead? { isInPages ? PageRead.of(handle) : nil }

  /// Runs `body`, which uses the transaction.
  ///
  /// Throws if another process may meanwhile have overwritten pages of a read without a lock file.
  ///
  /// This error replaces an error of `body`, which may have read pages of another commit.
  @inline(__always)
  package func whole<R, E: Error>(_ body: () throws(E) -> R) throws -> R {
    isInPages ? try PageRead.of(handle).whole(body) : try body()
  }

  @inline(never)
  func valueInPages(_ key: ByteView, in tree: Tree) throws(LMDBError) -> ByteView? {
    let pages = try PageRead.of(handle).tree(tree).pages
    do throws(PageError) {
      return try pages?.pair(of: key)?.value
    } catch {
      throw LMDBError(error, operation: "get from \(tree.name)", path: environment.path)
    }
  }

  @inline(never)
  func valueInPages(_ key: UInt64, in tree: Tree) throws(LMDBError) -> ByteView? {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in
      try valueInPages(ByteView(bytes), in: tree)
    }
  }
}
