internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The changes of one engine transaction to digests of content, to sizes of limited entities, and
/// to the second copy of the catalogue.
///
/// See Format.md, "Digests", "Limits of entities" and "Second copy". Every write of records, links
/// and buckets adds its change here, whichever path it takes. The changes are added to the stored
/// digests and sizes once, right before the commit. The first write to a file without digests
/// computes all of them from the content.
final class ContentLedger: CommitPreparation {
  /// The changes that one transaction makes to one digest, and to the size of the digested records.
  final class Sum {
    // Only one thread uses the object. An exclusivity check would slow each record.
    @exclusivity(unchecked) var change = ContentDigest()
    /// The change of the sum of the records' lengths.
    ///
    /// The sum is updated for every entity, even without a limit, since a check for a limit would
    /// cost as much.
    @exclusivity(unchecked) var sizeChange = 0
    /// Whether the file stores the sum of the lengths of these records.
    var keepsSize = false
    /// Whether the transaction removed all digested content at once, before the changes counted
    /// here.
    @exclusivity(unchecked) private(set) var isCleared = false

    fileprivate var isChanged: Bool { isCleared || change != ContentDigest() }

    /// Notes that all records, links or buckets under this digest are removed.
    func clear() {
      change = ContentDigest()
      sizeChange = 0
      isCleared = true
    }

    @inline(__always)
    func add(_ id: UInt64, _ record: ByteView) {
      change.add(record: id, checksum: record.recordChecksum)
      sizeChange &+= record.count
    }

    @inline(__always)
    func remove(_ id: UInt64, _ record: WrittenRecord) {
      change.remove(record: id, checksum: record.checksum)
      sizeChange &-= record.byteCount
    }

    @inline(__always)
    func replace(_ id: UInt64, _ old: WrittenRecord, by new: ByteView) {
      change.replace(record: id, checksum: old.checksum, by: new.recordChecksum)
      sizeChange &+= new.count &- old.byteCount
    }
  }

  private let trees: Catalogue.Trees
  private var sums: [DigestedContent: Sum] = [:]
  private var isRecount = false
  private var isCatalogueChanged = false

  private init(_ trees: Catalogue.Trees) { self.trees = trees }

  static func of(_ transaction: WritingTransaction, _ trees: Catalogue.Trees) -> ContentLedger {
    transaction.commitPreparation { ContentLedger(trees) }
  }

  func sum(of content: DigestedContent) -> Sum {
    if let known = sums[content] { return known }
    let made = Sum()
    sums[content] = made
    return made
  }

  /// Makes the commit compute all digests and the second copy from the content, for example after
  /// content was written without updating this ledger.
  func recount() {
    isRecount = true
    isCatalogueChanged = true
  }

  /// Makes the commit update the second copy of the catalogue.
  func catalogueChanged() { isCatalogueChanged = true }

  // MARK: Commit

  func prepare(_ transaction: WritingTransaction) throws {
    let isContentChanged = isRecount || sums.values.contains(where: \.isChanged)
    let isCounted = isContentChanged ? try putDigests(in: transaction) : false
    guard isContentChanged || isCatalogueChanged else { return }
    try putSizes(in: transaction)
    let hasCopy = try transaction.environment.tree(.catalogueCopy, in: transaction.reads) != nil
    guard isCatalogueChanged || !hasCopy else { return }
    if !hasCopy {
      _ = try transaction.environment.openOrMakeTree(.catalogueCopy, in: transaction)
      try trees.require([.catalogueCopy], in: transaction)
      // The schema number increases once for each transaction.
      if !isCounted { try trees.raiseSchemaNumber(in: transaction) }
    }
    try CatalogueCopy.update(trees.header, trees.catalogue, in: transaction)
  }

  /// Stores the changed digests of entities, relationships and buckets.
  ///
  /// If the file has no digests, or a recount was requested, all digests are computed from the
  /// content.
  ///
  /// - Returns: whether all digests were computed, which increases the schema number.
  private func putDigests(in transaction: WritingTransaction) throws -> Bool {
    if let tree = try transaction.environment.tree(.digests, in: transaction.reads), !isRecount {
      for (content, sum) in sums where sum.isChanged {
        var digest = ContentDigest()
        if !sum.isCleared, let stored = try transaction.get(content.key, in: tree) {
          guard let known = ContentDigest(bytes: stored) else {
            throw FormatError("a digest has \(stored.count) bytes, must have 16", .digestLength)
          }
          digest = known
        }
        digest += sum.change
        try Self.put(digest, of: content, in: tree, transaction)
      }
      return false
    }
    try recount(in: transaction)
    return true
  }

  private func recount(in transaction: WritingTransaction) throws {
    let tree = try transaction.environment.openOrMakeTree(.digests, in: transaction)
    try trees.require([.contentDigest], in: transaction)
    try trees.raiseSchemaNumber(in: transaction)
    for name in try transaction.reads.treeNames() {
      guard let known = TreeName(name), let content = DigestedContent(of: known) else { continue }
      try Self.put(
        try Self.digest(of: content, in: known, transaction.reads), of: content, in: tree,
        transaction)
    }
  }

  /// Stores a digest, or removes it if the content is empty.
  private static func put(
    _ digest: ContentDigest, of content: DigestedContent, in tree: Tree,
    _ transaction: WritingTransaction
  ) throws {
    if digest == ContentDigest() {
      _ = try transaction.delete(content.key, in: tree)
    } else {
      try transaction.put(content.key, digest.bytes, in: tree)
    }
  }

  // MARK: Sizes

  /// Returns the sum of the record lengths of `entity`, including the changes of the running
  /// transaction.
  ///
  /// The entity must be limited by bytes.
  func size(of entity: EntityNumber, in transaction: Transaction) throws -> Int {
    try changed(try Self.storedSize(of: entity, trees, in: transaction), of: entity)
  }

  /// Returns the sum of the record lengths of `entity` that the file stores.
  ///
  /// The entity must be limited by bytes.
  static func storedSize(
    of entity: EntityNumber, _ trees: Catalogue.Trees, in transaction: Transaction
  ) throws -> Int {
    guard let body = try transaction.get(CounterKey.size(entity: entity), in: trees.counters)
    else { throw badSize("has no size", entity) }
    guard body.count == 8 else { throw badSize("has a size of another length", entity) }
    return Int(clamping: body.uint64(at: 0))
  }

  private func putSizes(in transaction: WritingTransaction) throws {
    if isRecount || isCatalogueChanged { return try updateSizes(in: transaction) }
    for (content, sum) in sums where sum.keepsSize && (sum.isCleared || sum.sizeChange != 0) {
      guard case .records(let entity) = content else { continue }
      try put(try size(of: entity, in: transaction.reads), of: entity, transaction)
    }
  }

  /// Stores the sizes of all entities that the catalogue limits by bytes, and removes other sizes.
  ///
  /// Called when the catalogue changed, because entities may have gained or lost a limit.
  private func updateSizes(in transaction: WritingTransaction) throws {
    let limited = try trees.descriptions(in: transaction.reads).filter(\.keepsSize).map(\.number)
    let keys = Set(limited.map(CounterKey.size))
    let stored = Set(try sizeKeys(in: transaction.reads))
    for key in stored.subtracting(keys) { _ = try transaction.delete(key, in: trees.counters) }
    for entity in limited {
      let size =
        isRecount || !stored.contains(CounterKey.size(entity: entity))
        ? try Self.measured(entity, in: transaction.reads)
        : try size(of: entity, in: transaction.reads)
      try put(size, of: entity, transaction)
    }
  }

  /// Returns a stored size with the changes of this transaction applied.
  private func changed(_ stored: Int, of entity: EntityNumber) throws -> Int {
    let sum = sums[.records(entity: entity)]
    let before = sum?.isCleared == true ? 0 : stored
    let (size, isOverflow) = before.addingReportingOverflow(sum?.sizeChange ?? 0)
    guard !isOverflow, size >= 0 else { throw Self.badSize("has the size \(stored)", entity) }
    return size
  }

  private func sizeKeys(in transaction: Transaction) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try Cursor(trees.counters, in: transaction).walk(.prefix([CounterKey.sizeKind])) { key, _ in
      keys.append(Array(key))
      return true
    }
    return keys
  }

  private func put(_ size: Int, of entity: EntityNumber, _ transaction: WritingTransaction) throws {
    try transaction.put(
      CounterKey.size(entity: entity), littleEndianBytes(UInt64(size)), in: trees.counters)
  }

  private static func measured(_ entity: EntityNumber, in transaction: Transaction) throws -> Int {
    let name = TreeName.records(entity: entity)
    guard let tree = try transaction.environment.tree(name, in: transaction) else { return 0 }
    var size = 0
    try transaction.forEachPair(of: tree) { size += $1.count }
    return size
  }

  private static func badSize(_ text: String, _ entity: EntityNumber) -> FormatError {
    FormatError("entity \(entity), which is limited by bytes, \(text)", .counterSize)
  }

  // MARK: Digests

  /// Returns the digest of `content` with the changes of this transaction.
  ///
  /// - Parameter stored: the digest in the file.
  func digest(of content: DigestedContent, stored: ContentDigest) -> ContentDigest {
    guard let sum = sums[content] else { return stored }
    var digest = sum.isCleared ? ContentDigest() : stored
    digest += sum.change
    return digest
  }

  /// Returns the digests in `tree`, which has none for empty content.
  static func digests(
    in tree: Tree, _ transaction: Transaction
  ) throws -> [DigestedContent: ContentDigest] {
    var digests: [DigestedContent: ContentDigest] = [:]
    try transaction.forEachPair(of: tree) { key, body in
      if let content = DigestedContent(key: key) { digests[content] = ContentDigest(bytes: body) }
    }
    return digests
  }

  /// Computes one digest from the content.
  private static func digest(
    of content: DigestedContent, in name: TreeName, _ transaction: Transaction
  ) throws -> ContentDigest {
    var digest = ContentDigest()
    guard let tree = try transaction.environment.tree(name, in: transaction) else { return digest }
    try transaction.forEachPair(of: tree) { key, body in
      if let number = ContentDigest(of: content, key: key, body: body) { digest += number }
    }
    return digest
  }
}

/// The facts about a stored record that are needed when it is replaced or removed.
struct WrittenRecord {
  let checksum: UInt32
  let byteCount: Int

  @inline(__always)
  init(_ record: ByteView) {
    checksum = record.recordChecksum
    byteCount = record.count
  }
}
