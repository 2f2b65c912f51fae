internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The kind of a page, judged by its content alone.
enum PageKind: UInt8 {
  case nothing, branch, overflow
  /// A leaf of the tree of names.
  case names
  case freeList
  case records
  /// Descriptions of the catalogue, or of its second copy.
  case catalogue
  case header, counters, digests, order, history
  /// Pairs of buckets or of imports.
  case sealed
  /// Entries of an index, or links.
  case entries
  /// A leaf whose pairs fit no tree.
  case leaf

  /// The kind of page that a pair belongs to.
  init(_ pair: DamagedFile.Pair) {
    let (key, body) = (pair.key, pair.body)
    self = .leaf
    if pair.flags & NodeFlag.isTree != 0 {
      if body.count == TreeRecordLayout.size { self = .names }
    } else if Self.isRecord(pair) {
      self = .records
    } else if let kind = Self.kind(ofSealed: pair) {
      self = kind
    } else if key.count == 8, Self.freed(key, body) != nil {
      self = .freeList
    } else if key.count == LinkOrderKey.length, body.count == 8,
      LinkOrderKey.content(key) != nil
    {
      self = .order
    } else if body.count == ContentDigest.size, DigestedContent(key: key) != nil {
      self = .digests
    } else if body.count == 8, Self.isCounter(key) {
      self = .counters
    } else if let name = String(validating: key, as: UTF8.self),
      HeaderField(rawValue: name) != nil || HeaderField.changedEntity(key) != nil
    {
      self = .header
    } else if body.isEmpty || body.count == 8, key.count > 1 {
      self = .entries
    }
  }

  static func isRecord(_ pair: DamagedFile.Pair) -> Bool {
    recordID(pair.key) != nil
      && pair.body.count >= RecordLayout.headerSize + RecordLayout.checksumSize
      && Checksum.fits(pair.body, id: pair.key.uint64(at: 0))
  }

  static func recordID(_ key: ByteView) -> UInt64? {
    guard key.count == 8 else { return nil }
    let id = key.uint64(at: 0)
    return id > 0 && id < 1 << 63 ? id : nil
  }

  private static func kind(ofSealed pair: DamagedFile.Pair) -> PageKind? {
    let key = pair.key
    if key.count == 21, key[0] == 2, pair.body.count >= 6,
      Checksum.fits(pair.body, id: key.bigEndianUInt64(at: 5))
    {
      return .history
    }
    guard !key.isEmpty, (try? Checksum.unsealed(key: key, body: pair.body)) != nil else {
      return nil
    }
    if CatalogueKey.entityNumber(key) != nil || CatalogueKey.relationshipNumber(key) != nil
      || key[0] == 0
    {
      return .catalogue
    }
    return HistoryKey(key) != nil ? .history : .sealed
  }

  private static func isCounter(_ key: ByteView) -> Bool {
    switch (key.first, key.count) {
    case (1, 5), (2, 1), (3, 1), (4, 9): true
    default: false
    }
  }

  /// The pages that one pair of the free list frees; `nil` for a pair of another tree.
  static func freed(_ key: ByteView, _ body: ByteView) -> [UInt64]? {
    guard key.count == 8, body.count >= 16, body.count & 7 == 0 else { return nil }
    let commit = key.uint64(at: 0)
    let count = body.uint64(at: 0)
    guard commit > 0, commit < 1 << 56, count > 0, count <= UInt64(body.count / 8 - 1) else {
      return nil
    }
    var pages: [UInt64] = []
    for index in 1...Int(count) {
      let page = body.uint64(at: 8 * index)
      guard page >= PageLayout.firstDataPage, page < pages.last ?? .max else { return nil }
      pages.append(page)
    }
    return pages
  }
}
