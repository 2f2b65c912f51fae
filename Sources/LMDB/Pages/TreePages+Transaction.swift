import LodestoreBytes
import LodestoreSystem

extension TreePages {
  /// Fails for an empty tree, with the plain engine, and if the map does not have the expected
  /// form.
  init?(of tree: Tree, in transaction: Transaction) throws(LMDBError) {
    guard transaction.environment.readsPages else { return nil }
    if let read = transaction.pageRead {
      guard let pages = try read.tree(tree).pages else { return nil }
      self = pages
      return
    }
    let info = transaction.environment.rawInfo
    let format = transaction.environment.format
    // All pages of a read are in the map, because LMDB begins no other read.
    let pageCount = UInt64(min(info.usedBytes, info.mapSizeInBytes) / max(1, info.pageSize))
    let cursor = try Cursor(.names, in: transaction)
    let isFound = try format.key(ofTree: tree.name)._withBytes { (name) throws(LMDBError) in
      try cursor.seek(name)
    }
    guard isFound, cursor.value.count == TreeRecordLayout.size,
      let inPage = cursor.key.baseAddress
    else { return nil }
    let record = cursor.value
    let root = record.loadUnaligned(fromByteOffset: TreeRecordLayout.root, as: UInt64.self)
    let depth = record.loadUnaligned(fromByteOffset: TreeRecordLayout.depth, as: UInt16.self)
    guard root < pageCount,
      let map = Self.map(with: inPage, info.pageSize, pageCount, transaction.environment)
    else { return nil }
    self.init(
      map: map, format, pageSize: info.pageSize, pageCount: pageCount, root: root,
      depth: Int(depth), hasIntegerKeys: tree.hasIntegerKeys)
  }

  /// The start of the map, calculated from an `address` within a page.
  private static func map(
    with address: UnsafeRawPointer, _ pageSize: Int, _ pageCount: UInt64, _ environment: Environment
  ) -> UnsafeRawPointer? {
    // The header of the page begins with its number.
    let page = address - Int(bitPattern: address) % pageSize
    let number = page.loadUnaligned(fromByteOffset: PageLayout.number, as: UInt64.self)
    guard number < pageCount else { return nil }
    let map = page - Int(number) * pageSize
    return environment.beginsMap(at: map) ? map : nil
  }

  /// The start of the map in a read; `nil` if the file has no tree.
  static func map(in transaction: Transaction) -> UnsafeRawPointer? {
    if let read = transaction.pageRead { return read.snapshot.map.base }
    let info = transaction.environment.rawInfo
    guard transaction.environment.readsPages, let cursor = try? Cursor(.names, in: transaction),
      (try? cursor.first()) == true, let address = cursor.key.baseAddress
    else { return nil }
    return map(
      with: address, info.pageSize, UInt64(info.usedBytes / max(1, info.pageSize)),
      transaction.environment)
  }
}

extension LeafFinder {
  /// Fails in a write, for an empty tree, with the plain engine, and if the map does not have the
  /// expected form.
  init?(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    guard tree.hasIntegerKeys, !transaction.environment.isActiveWrite(transaction.handle),
      let pages = try TreePages(of: tree, in: transaction)
    else { return nil }
    self.init(pages)
  }
}

extension RecordFinder {
  /// Fails in a write, for an empty tree, with the plain engine, and if the map does not have the
  /// expected form.
  package init?(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    guard tree.hasIntegerKeys, !transaction.environment.isActiveWrite(transaction.handle),
      let pages = try TreePages(of: tree, in: transaction)
    else { return nil }
    self.init(pages, readsAhead: transaction.environment.readsAheadItself)
  }
}

extension Environment {
  /// Whether the map begins at `address`, which was calculated from the number in a possibly
  /// damaged page.
  ///
  /// The last confirmed address is remembered. Any other address is first read by the kernel,
  /// because a wrong number may lead to unmapped memory.
  fileprivate func beginsMap(at address: UnsafeRawPointer) -> Bool {
    let bits = UInt(bitPattern: address)
    if mapStart.load(ordering: .relaxed) == bits { return true }
    guard isReadable(address, byteCount: format.meta.version),
      address.loadUnaligned(fromByteOffset: format.meta.magic, as: UInt32.self)
        == MetaPageLayout.magicNumber
    else { return false }
    mapStart.store(bits, ordering: .relaxed)
    return true
  }
}

private func isReadable(_ address: UnsafeRawPointer, byteCount: Int) -> Bool {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { return false }
  defer { for end in ends { close(end) } }
  return write(ends[1], address, byteCount) == byteCount
}
