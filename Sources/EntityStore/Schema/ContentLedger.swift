internal import LMDB
internal import LodestoreFormat

/// The digests of the content that one engine transaction changes, and the second copy of the
/// catalogue; see Format.md, "Digests" and "Second copy".
///
/// Every write of records, links and buckets adds its change here, whichever path it takes. The
/// changes are added to the stored digests once, right before the commit. The first write to a file
/// without digests calculates all of them from the content.
final class ContentLedger: CommitPreparation {
  /// The change of one digest.
  final class Sum {
    // Used for each record by one thread; exclusivity checks would slow down each record.
    @exclusivity(unchecked) var change = ContentDigest()
    /// Whether the content was removed before the change.
    @exclusivity(unchecked) private(set) var isCleared = false

    fileprivate var isChanged: Bool { isCleared || change != ContentDigest() }

    /// Called when all of the content is removed.
    func clear() {
      change = ContentDigest()
      isCleared = true
    }
  }

  private let trees: Catalogue.Trees
  private var sums: [DigestedContent: Sum] = [:]
  private var isRecount = false
  private var isCatalogueChanged = false

  private init(_ trees: Catalogue.Trees) { self.trees = trees }

  static func of(_ transaction: Transaction, _ trees: Catalogue.Trees) -> ContentLedger {
    transaction.commitPreparation { ContentLedger(trees) }
  }

  func sum(of content: DigestedContent) -> Sum {
    if let known = sums[content] { return known }
    let made = Sum()
    sums[content] = made
    return made
  }

  /// Calculates all digests and the second copy from the content before the commit, as after
  /// content was written as bytes.
  func recount() {
    isRecount = true
    isCatalogueChanged = true
  }

  /// Renews the second copy of the catalogue before the commit.
  func catalogueChanged() { isCatalogueChanged = true }

  // MARK: Commit

  func prepare(_ transaction: Transaction) throws {
    let isContentChanged = isRecount || sums.values.contains(where: \.isChanged)
    let isCounted = isContentChanged ? try putDigests(in: transaction) : false
    guard isContentChanged || isCatalogueChanged else { return }
    let hasCopy = try CatalogueCopy.tree(in: transaction, isCreated: false) != nil
    guard isCatalogueChanged || !hasCopy else { return }
    if !hasCopy {
      _ = try CatalogueCopy.tree(in: transaction, isCreated: true)
      try Catalogue.require([.catalogueCopy], trees, in: transaction)
      // Once for each transaction.
      if !isCounted { try Catalogue.raiseSchemaNumber(trees, in: transaction) }
    }
    try CatalogueCopy.renew(trees.header, trees.catalogue, in: transaction)
  }

  /// Stores the changed digests, or all; true where it has raised the number of the schema.
  private func putDigests(in transaction: Transaction) throws -> Bool {
    if let tree = try Self.tree(in: transaction, isCreated: false), !isRecount {
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

  private func recount(in transaction: Transaction) throws {
    guard let tree = try Self.tree(in: transaction, isCreated: true) else { return }
    try Catalogue.require([.contentDigest], trees, in: transaction)
    try Catalogue.raiseSchemaNumber(trees, in: transaction)
    for name in try transaction.treeNames() {
      guard let known = TreeName(name), let content = DigestedContent(of: known) else { continue }
      try Self.put(
        try Self.digest(of: content, in: known, transaction), of: content, in: tree, transaction)
    }
  }

  private static func tree(in transaction: Transaction, isCreated: Bool) throws -> Tree? {
    try transaction.environment.tree(
      TreeName.digests.text, isCreated: isCreated, hasIntegerKeys: false, in: transaction)
  }

  /// Stores a digest, or removes that of empty content.
  private static func put(
    _ digest: ContentDigest, of content: DigestedContent, in tree: Tree, _ transaction: Transaction
  ) throws {
    if digest == ContentDigest() {
      _ = try transaction.delete(content.key, in: tree)
    } else {
      try transaction.put(content.key, digest.bytes, in: tree)
    }
  }

  /// Calculates one digest from the content.
  private static func digest(
    of content: DigestedContent, in name: TreeName, _ transaction: Transaction
  ) throws -> ContentDigest {
    var digest = ContentDigest()
    let isRecords = if case .records = name { true } else { false }
    guard
      let tree = try transaction.environment.tree(
        name.text, isCreated: false, hasIntegerKeys: isRecords, in: transaction)
    else { return digest }
    let cursor = try Cursor(tree, in: transaction)
    var found = try cursor.first()
    while found {
      if let number = ContentDigest(of: content, key: cursor.key, body: cursor.value) {
        digest += number
      }
      found = try cursor.next()
    }
    return digest
  }
}
