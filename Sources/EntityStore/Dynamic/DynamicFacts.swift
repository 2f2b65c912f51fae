internal import LMDB
package import LodestoreFormat

/// Facts about the file of a store and its header.
package struct DynamicFacts: Sendable {
  package let usedSizeInBytes: Int
  package let mapSizeInBytes: Int
  package let pageSizeInBytes: Int
  package let freePageCount: Int
  package let readerSlotCount: Int
  package let usedReaderSlotCount: Int
  /// The process that is writing, in words; `nil` when nobody writes, and on systems other than
  /// Linux.
  package let writer: String?
  /// The time at which the process of ``writer`` began to write, in seconds since the beginning of
  /// 2001.
  package let writerSince: Double?
  /// The lowest format versions that a library needs to read the file and to write it.
  package let requirement: FormatRequirement
  /// The sum of the digests of all records, links and buckets; `nil` when the file has no digests.
  package let digest: ContentDigest?
  package let uuid: UUIDBytes?
  /// The time of creation, in seconds since the beginning of 2001.
  package let created: Double?
  /// The number of the schema, which increases with each change of the schema in the file.
  package let schemaNumber: UInt64
  package let commitNumber: UInt64
  /// The name and version of the engine.
  package let engine: String
}

/// The size of a tree with the records of an entity, or with the entries of an index.
package struct DynamicTree: Sendable {
  /// The index; `nil` for the records.
  package let index: DynamicIndex?
  /// The number of records or entries, with those of expired records.
  package let entryCount: Int
  /// The number of pages from the root to a leaf.
  package let depth: Int
  package let pageCount: Int
  let pageSizeInBytes: Int

  /// The size of all pages.
  package var byteCount: Int { pageCount * pageSizeInBytes }
}

extension DynamicSnapshot {
  package func facts() throws -> DynamicFacts {
    let environment = core.store.environment
    let info = try environment.info
    let header = core.store.trees.header
    guard let format = try core.transaction.get(HeaderField.format.key, in: header)
    else { throw FormatError("the header has no field 'format'") }
    let writer = environment.turnHolder
    return DynamicFacts(
      usedSizeInBytes: info.usedBytes, mapSizeInBytes: info.mapSizeInBytes,
      pageSizeInBytes: info.pageSize, freePageCount: try core.transaction.freePageCount(),
      readerSlotCount: info.readerSlotCount, usedReaderSlotCount: info.usedReaderSlotCount,
      writer: writer?.name, writerSince: writer?.since,
      requirement: try FormatRequirement(bytes: format),
      digest: try digests()?.values.reduce(into: ContentDigest()) { $0 += $1 },
      uuid: try core.transaction.get(HeaderField.uuid.key, in: header).flatMap {
        $0.count == 16 ? UUIDBytes(bytes: $0, at: 0) : nil
      },
      created: try core.transaction.get(HeaderField.created.key, in: header).flatMap {
        $0.count == 8 ? Double(bitPattern: $0.uint64(at: 0)) : nil
      },
      schemaNumber: core.schema.number.rawValue, commitNumber: core.commitNumber.rawValue,
      engine: Environment.engineVersion)
  }

  /// Returns the digest of all records of `entity`; `nil` when the file has no digests.
  package func digest(of entity: DynamicEntity) throws -> ContentDigest? {
    try digests().map { $0[.records(entity: entity.stored.number)] ?? ContentDigest() }
  }

  /// Returns the digests of content that is not empty; `nil` when the file has no tree of digests.
  private func digests() throws -> [DigestedContent: ContentDigest]? {
    try core.tree(.digests).map { try ContentLedger.digests(in: $0, core.transaction) }
  }

  /// Returns the sizes of the records of `entity` and of its indexes, in bytes of whole pages.
  package func size(of entity: DynamicEntity) throws -> (records: Int, indexes: Int) {
    let trees = try trees(of: entity)
    let all = trees.reduce(0) { $0 + $1.byteCount }
    let records = trees.first?.byteCount ?? 0
    return (records, all - records)
  }

  /// Returns the trees of `entity`: the tree of its records first, then those of its indexes.
  package func trees(of entity: DynamicEntity) throws -> [DynamicTree] {
    let stored = entity.stored
    let indexes = stored.indexes + stored.computedIndexes.map(\.entries)
    return [try tree(stored.records, index: nil)]
      + (try indexes.map { try tree($0.tree, index: DynamicIndex(stored: $0)) })
  }

  private func tree(_ tree: Tree, index: DynamicIndex?) throws -> DynamicTree {
    let counts = try core.transaction.statistics(of: tree)
    return DynamicTree(
      index: index, entryCount: counts.entries, depth: counts.depth,
      pageCount: counts.branchPages + counts.leafPages + counts.overflowPages,
      pageSizeInBytes: try core.store.environment.info.pageSize)
  }
}
