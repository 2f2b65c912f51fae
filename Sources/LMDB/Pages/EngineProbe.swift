import CLMDB
import LodestoreBytes

/// Tests, once in a process, the properties of LMDB that this package relies on and LMDB does not
/// document.
///
/// - The engine writes files of ``PageFormat/ofEngine``: the data version, the names of trees, the
///   header of a page, the place of a key and of its value.
/// - `mdb_cursor_put` with MDB_CURRENT and MDB_RESERVE preserves a value of the same size in the
///   page, for ``WritingCursor/changeableCurrent()``.
///
/// The test uses a separate environment in memory, and takes half a millisecond in a debug build.
enum EngineProbe {
  /// The reason why pages may not be read directly; `nil` if the tests pass.
  static let reason: EngineFence.Reason? = {
    do { return try run() } catch { return .layout }
  }()

  private struct Undone: Error {}

  static func run() throws -> EngineFence.Reason? {
    var options = EnvironmentOptions()
    // The plain engine is used, because opening with direct access would run this probe again.
    options.usesPlainEngine = true
    options.isNamed = false
    options.mapSizeInBytes = 1 << 20
    options.treeCount = 2
    let temporary = try EnvironmentRegistry.temporaryFileInMemory()
    defer { withExtendedLifetime(temporary) {} }
    let flags = UInt32(MDB_NOLOCK | MDB_NOSYNC)
    let environment = try Environment.open(temporary.path, options, nil, nil, flags: flags)
    defer { environment.shutDown() }
    try fill(environment)
    guard try hasLayout(environment) else { return .layout }
    return try keepsReserved(environment) ? nil : .reserve
  }

  // MARK: Operations to try

  private static let sizes = [13, PageLayout.longestSharedValue, 40, 8]
  /// Keys and values of odd and even lengths, which the formats place differently.
  private static let keys: [[UInt8]] = [[1], [2, 0], [3, 0, 7], Array(4..<12)]

  private static func tree(
    _ name: String, hasIntegerKeys: Bool, in transaction: WritingTransaction,
    isCreated: Bool = false
  ) throws -> Tree {
    let tree = try transaction.environment.tree(
      name, isCreated: isCreated, hasIntegerKeys: hasIntegerKeys, in: transaction)
    guard let tree else { throw Undone() }
    return tree
  }

  private static func fill(_ environment: Environment) throws {
    try environment.write { transaction in
      let records = try tree("records", hasIntegerKeys: true, in: transaction, isCreated: true)
      for (id, size) in sizes.enumerated() {
        try content(id, size)._withBytes { (bytes) throws(LMDBError) in
          try transaction.put(UInt64(id), bytes, in: records)
        }
      }
      let entries = try tree("entries", hasIntegerKeys: false, in: transaction, isCreated: true)
      for key in keys { try transaction.put(key, key.reversed(), in: entries) }
    }
  }

  private static func content(_ id: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ id) }
  }

  // MARK: The layout

  private static func hasLayout(_ environment: Environment) throws -> Bool {
    let format = PageFormat.ofEngine
    guard MetaPages(file: environment.dataDescriptor, path: "").format == format,
      let entries = try environment.openExistingTree("entries", hasIntegerKeys: false)
    else { return false }
    return try environment.read { transaction in
      let names = try Cursor(.names, in: transaction)
      guard try names.first(), names.key.elementsEqual(format.key(ofTree: "entries")),
        names.value.count == TreeRecordLayout.size
      else { return false }
      let size = environment.rawInfo.pageSize
      let cursor = try Cursor(entries, in: transaction)
      for (index, key) in keys.enumerated() {
        guard try cursor.next(), let start = cursor.key.baseAddress,
          let page = LeafPage(start - Int(bitPattern: start) % size, size: size, format),
          page.count == keys.count, page.index(ofKeyAt: start, guess: index) == index,
          page.key(page.node(index))?.elementsEqual(key) == true,
          let value = page.value(page.node(index), keyCount: key.count),
          value.baseAddress == cursor.value.baseAddress, value.elementsEqual(key.reversed())
        else { return false }
      }
      return true
    }
  }

  // MARK: Reserved values

  private static func keepsReserved(_ environment: Environment) throws -> Bool {
    var isKept = true
    do {
      try environment.write { transaction in
        let records = try tree("records", hasIntegerKeys: true, in: transaction)
        // At first the page belongs to the last commit, afterwards to this transaction.
        for (id, size) in sizes.enumerated() {
          let cursor = try WritingCursor(records, in: transaction)
          let isFound = try cursor.reads.seek(UInt64(id))
          let reserved = isFound ? try cursor.reserveCurrent() : nil
          isKept = isKept && reserved?.elementsEqual(content(id, size)) == true
        }
        throw Undone()
      }
    } catch is Undone {}
    return isKept
  }
}
