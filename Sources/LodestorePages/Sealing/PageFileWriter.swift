import LodestoreBytes
internal import LodestoreFormat

/// Writes an LMDB file of data version 1, sealed or not, from the pairs of its trees in order.
///
/// The file has one state: both meta pages refer to the same trees, as commits 1 and 2. No page is
/// free, and every unused byte is zero. Equal trees therefore give equal files, byte for byte, and
/// the file contains nothing but the pairs. Pages have 4,096 bytes on every machine.
///
/// Trees are written one after the other. Memory use is one page for each level of a tree and one
/// frame of 512 KiB. Time is proportional to the number of bytes. The caller syncs and names the
/// file.
package struct PageFileWriter {
  /// Facts about a complete file.
  package struct Written: Sendable {
    package var byteCount: UInt64
    /// The hashes of the file's frames; see ``VerityTree/frameDigests``.
    package var frameDigests: [[UInt8]]

    /// The fs-verity digest of the file; see ``VerityTree/digest``.
    package var verityDigest: [UInt8] {
      VerityTree.digest(ofFrames: frameDigests, byteCount: byteCount) ?? []
    }
  }

  package static let pageSize = VerityTree.blockSize
  private static let format = PageFormat.lmdb09

  private let isSealed: Bool
  private var output: PageOutput
  private var tree: TreeWriter?
  private var records: [String: TreeRecord] = [:]

  /// - Parameters:
  ///   - descriptor: An empty file, which the caller owns.
  ///   - isSealed: Whether the file gets the mark of a sealed file.
  package init(descriptor: Int32, isSealed: Bool = true) throws(PageWriteError) {
    self.isSealed = isSealed
    output = try PageOutput(descriptor: descriptor, pageSize: Self.pageSize)
  }

  /// Begins a tree and ends the previous tree.
  package mutating func beginTree(
    _ name: String, hasIntegerKeys: Bool = false
  ) throws(PageWriteError) {
    try endTree()
    guard records[name] == nil else { throw .treeTwice(name) }
    tree = TreeWriter(name, hasIntegerKeys: hasIntegerKeys, pageSize: Self.pageSize)
  }

  /// Adds a pair to the current tree.
  ///
  /// The key must be above all keys before it.
  ///
  /// - Throws: ``PageWriteError``. The file is then unusable.
  package mutating func add(_ key: ByteView, _ value: ByteView) throws(PageWriteError) {
    precondition(tree != nil, "a pair needs a tree")
    try tree?.add(key, value, to: &output)
  }

  private mutating func endTree() throws(PageWriteError) {
    guard let name = tree?.name else { return }
    records[name] = try tree?.end(&output)
    tree = nil
  }

  /// Ends the last tree, and writes the tree of names and the meta pages.
  package mutating func finish() throws(PageWriteError) -> Written {
    try endTree()
    var names = TreeWriter("tree names", hasIntegerKeys: false, pageSize: Self.pageSize)
    let keys = records.map { (key: Self.format.key(ofTree: $0.key), record: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for (key, record) in keys {
      try key._withBytes { (key) throws(PageWriteError) in
        try record.bytes._withBytes { (value) throws(PageWriteError) in
          try names.add(key, value, flags: NodeFlag.isTree, to: &output)
        }
      }
    }
    let main = try names.end(&output)
    let pageCount = output.next
    let metas = [(0, 2), (1, 1)].flatMap { number, transaction in
      metaPage(number, main: main, pageCount: pageCount, transaction: UInt64(transaction))
    }
    let frames = try output.end(metas)
    return Written(byteCount: pageCount * UInt64(Self.pageSize), frameDigests: frames)
  }

  private func metaPage(
    _ number: Int, main: TreeRecord, pageCount: UInt64, transaction: UInt64
  ) -> [UInt8] {
    let (format, pageSize) = (Self.format, Self.pageSize)
    let layout = format.meta
    var free = TreeRecord(hasIntegerKeys: true)
    free.pad = UInt32(pageSize)
    free.flags |= TreeRecordLayout.noSubdirectory
    var page = [UInt8](repeating: 0, count: pageSize)
    page._withMutableBytes { page in
      page.storeBytes(of: UInt64(number), toByteOffset: PageLayout.number, as: UInt64.self)
      page.storeBytes(of: PageFlag.meta, toByteOffset: format.flags, as: UInt16.self)
      page.storeBytes(of: MetaPageLayout.magicNumber, toByteOffset: layout.magic, as: UInt32.self)
      page.storeBytes(of: format.dataVersion, toByteOffset: layout.version, as: UInt32.self)
      page.storeBytes(
        of: pageCount * UInt64(pageSize), toByteOffset: layout.mapSize, as: UInt64.self)
      for (record, offset) in [(free, layout.freeList), (main, layout.names)] {
        page[offset...].copyBytes(from: record.bytes)
      }
      page.storeBytes(of: pageCount - 1, toByteOffset: layout.lastPage, as: UInt64.self)
      page.storeBytes(of: transaction, toByteOffset: layout.transaction, as: UInt64.self)
      if isSealed {
        page[SealMark.offset...].copyBytes(from: SealMark.bytes)
      }
    }
    return page
  }
}

extension TreeRecord {
  /// The record of an empty tree.
  init(hasIntegerKeys: Bool) {
    pad = 0
    flags = hasIntegerKeys ? TreeRecordLayout.integerKeys : 0
    depth = 0
    branchPages = 0
    leafPages = 0
    overflowPages = 0
    entries = 0
    root = TreeRecordLayout.noPage
  }

  /// The record as LMDB stores it.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: TreeRecordLayout.size)
    bytes._withMutableBytes { bytes in
      bytes.storeBytes(of: pad, toByteOffset: TreeRecordLayout.pageSize, as: UInt32.self)
      bytes.storeBytes(of: flags, toByteOffset: TreeRecordLayout.flags, as: UInt16.self)
      bytes.storeBytes(of: depth, toByteOffset: TreeRecordLayout.depth, as: UInt16.self)
      for (number, offset) in [
        (branchPages, TreeRecordLayout.branchPages), (leafPages, TreeRecordLayout.leafPages),
        (overflowPages, TreeRecordLayout.overflowPages), (entries, TreeRecordLayout.entries),
        (root, TreeRecordLayout.root),
      ] {
        bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
      }
    }
    return bytes
  }
}
