import CLMDB

/// Reads a file without LMDB's functions: a file of the other format, or a file whose lock file
/// cannot be created.
///
/// An environment that uses this engine has no handle of LMDB and is read-only. The engine touches
/// no lock file, so writers do not know of its reads. Each read sees the newest commit and ends
/// with ``Transaction/whole(_:)``, which refuses results from pages that a writer may have
/// overwritten meanwhile. Nobody writes a sealed file.
final class PageEngine: @unchecked Sendable {
  let path: String
  let file: PageFile
  let format: PageFormat
  let pageSize: Int
  /// Whether nobody ever writes the file, so that every read is consistent.
  let isSealed: Bool
  /// The newest map.
  ///
  /// Earlier maps exist as long as their reads.
  private let map: Guarded<PageMap>

  init(_ file: PageFile, path: String, isSealed: Bool = false) throws(LMDBError) {
    self.path = path
    self.isSealed = isSealed
    self.file = file
    let first: PageMap
    do {
      first = try PageMap(file)
      _ = try PageSnapshot(newestOf: first)
    } catch {
      throw LMDBError(error, operation: "open", path: path)
    }
    format = first.format
    pageSize = first.pageSize
    map = Guarded(first)
  }

  var currentMap: PageMap { map.withLock { $0 } }

  /// The newest commit of the file.
  func newest() throws(LMDBError) -> PageSnapshot {
    do {
      let current = currentMap
      let snapshot = try PageSnapshot(newestOf: current)
      guard snapshot.meta.lastPage >= current.pageCount,
        try file.sizeInBytes() / pageSize > current.pageCount
      else { return snapshot }
      // A writer has made the file larger.
      let larger = try PageMap(file)
      guard larger.format == format, larger.pageSize == pageSize else {
        throw VerificationError.damagedHeader("its page size has changed while it was open")
      }
      map.withLock { $0 = larger }
      return try PageSnapshot(newestOf: larger)
    } catch let error as VerificationError {
      throw LMDBError(error, operation: "read", path: path)
    } catch {
      throw LMDBError(.damaged("\(error)"), operation: "read", path: path)
    }
  }

  /// Facts about the file, read in some tens of nanoseconds as with LMDB.
  var info: Environment.Info {
    let map = currentMap
    let metas = map.metaPages()
    let newest = metas.0.transaction >= metas.1.transaction ? metas.0 : metas.1
    let used = newest.lastPage.addingReportingOverflow(1)
    let bytes = used.partialValue.multipliedReportingOverflow(by: UInt64(pageSize))
    return Environment.Info(
      mapSizeInBytes: map.byteCount,
      usedBytes: used.overflow || bytes.overflow ? .max : Int(exactly: bytes.partialValue) ?? .max,
      pageSize: pageSize, lastTransaction: newest.transaction)
  }

  // MARK: Reads

  /// Begins a read of the newest commit.
  ///
  /// - Parameter ended: A read to reuse. If it is of the same commit, it already knows the trees.
  func begin(_ ended: OpaquePointer?) throws(LMDBError) -> OpaquePointer {
    guard let ended else { return PageRead(try newest(), self).handle }
    let read = PageRead.of(ended)
    if currentMap.newestTransaction == read.snapshot.transaction { return ended }
    do throws(LMDBError) {
      read.show(try newest())
      return ended
    } catch {
      PageRead.free(ended)
      throw error
    }
  }
}

/// A read of the pages of one commit, for one thread at a time.
final class PageRead {
  private(set) var snapshot: PageSnapshot
  private let engine: PageEngine
  /// The opened trees, by handle.
  @exclusivity(unchecked) private var trees: ContiguousArray<Tree?> = []

  /// A tree of the commit.
  ///
  /// The snapshot holds the map.
  struct Tree {
    let record: TreeRecord
    let pages: TreePages?
  }

  fileprivate init(_ snapshot: PageSnapshot, _ engine: PageEngine) {
    self.snapshot = snapshot
    self.engine = engine
  }

  fileprivate func show(_ snapshot: PageSnapshot) {
    self.snapshot = snapshot
    trees.removeAll(keepingCapacity: true)
  }

  var pageSize: Int { engine.pageSize }

  /// Runs `body` and checks the read; see ``Transaction/whole(_:)``.
  @inline(never)
  func whole<R, E: Error>(_ body: () throws(E) -> R) throws -> R {
    if engine.isSealed { return try body() }
    do {
      let result = try body()
      try checkWhole()
      return result
    } catch {
      try checkWhole()
      throw error
    }
  }

  private func checkWhole() throws(LMDBError) {
    if !snapshot.isWhole { throw LMDBError(.overtaken, operation: "read", path: engine.path) }
  }

  // MARK: Handles

  /// The retained read in the form of LMDB's transaction handle.
  ///
  /// No LMDB function may be called with it.
  fileprivate var handle: OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

  @inline(__always)
  static func of(_ handle: OpaquePointer) -> PageRead {
    Unmanaged<PageRead>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  static func free(_ handle: OpaquePointer) {
    Unmanaged<PageRead>.fromOpaque(UnsafeRawPointer(handle)).release()
  }

  // MARK: Trees

  /// The tree in the commit of this read.
  @inline(__always)
  func tree(_ tree: LMDB.Tree) throws(LMDBError) -> Tree {
    let index = Int(tree.handle)
    if index < trees.count, let known = trees[index] { return known }
    return try find(tree)
  }

  @inline(never)
  private func find(_ tree: LMDB.Tree) throws(LMDBError) -> Tree {
    let found: PageTree?
    do {
      found =
        switch tree.handle {
        case EngineTree.freeList: try snapshot.freeList()
        case EngineTree.names: try snapshot.names()
        default: try snapshot.tree(tree.name)
        }
    } catch {
      throw LMDBError(error, operation: "read \(tree.name)", path: engine.path)
    }
    guard let found else {
      throw LMDBError(code: MDB_BAD_DBI, operation: "read \(tree.name)", path: engine.path)
    }
    let index = Int(tree.handle)
    while trees.count <= index { trees.append(nil) }
    let tree = Tree(record: found.record, pages: found.pages)
    trees[index] = tree
    return tree
  }
}
