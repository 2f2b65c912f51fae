internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// Copies the trees of one transaction into a sealed file, or into an unsealed store.
struct SealCopy {
  let transaction: Transaction
  /// The trees of the store, by name.
  let trees: [String: Tree]
  let header: Tree
  var writer: PageFileWriter
  /// The number of key-value pairs in all trees, for the progress.
  let total: Int
  /// Whether records are copied byte for byte, with values of removed attributes.
  let isExact: Bool
  let step: (_ done: Int, _ total: Int) -> Bool
  private var done = 0
  /// The digests in the store; `nil` when it has none.
  private let stored: [DigestedContent: ContentDigest]?
  private var digests: [DigestedContent: ContentDigest] = [:]
  private var counts: [String: UInt64] = [:]

  init(
    transaction: Transaction, trees: [String: Tree], header: Tree, writer: PageFileWriter,
    total: Int, isExact: Bool = false, step: @escaping (_ done: Int, _ total: Int) -> Bool
  ) throws {
    self.transaction = transaction
    self.trees = trees
    self.header = header
    self.writer = writer
    self.total = total
    self.isExact = isExact
    self.step = step
    stored = try trees[TreeName.digests.text].map { try ContentLedger.digests(in: $0, transaction) }
  }

  /// - Parameter seal: the seal of the file, without counts and digests; nil for an unsealed store.
  /// - Returns: the seal with counts and digests.
  mutating func run(_ known: Catalogue.Trees, _ seal: SealDescription?) throws -> SealDescription? {
    let entities = try known.descriptions(in: transaction)
    let relationships = try known.relationships(in: transaction)
    var header = SchemaFingerprint()
    try copyHeader(&header, seal == nil ? requirement(entities, relationships) : nil)
    let schema = try copyCatalogue(known.catalogue)
    try copyCounters(&header, sizes: try cleanedSizes(of: entities))
    try copyBuckets()
    try writer.beginTree(TreeName.imports.text)
    for entity in entities { try copy(entity) }
    for relationship in relationships {
      for name in relationship.trees { try copy(name, checking: DigestedContent(of: name)) }
    }
    try check(.buckets)
    try writeDigests()
    guard var seal else { return nil }
    seal.schema = schema
    seal.header = header.value
    seal.counts = counts
    seal.digest = digests.values.reduce(into: ContentDigest()) { $0 += $1 }
    try writer.beginTree(TreeName.seal.text)
    try add(SealDescription.key, seal.body)
    return seal
  }

  // MARK: Pairs

  private mutating func add(_ key: [UInt8], _ body: [UInt8]) throws {
    try key._withBytes { (key) throws(PageWriteError) in
      try body._withBytes { (body) throws(PageWriteError) in try writer.add(key, body) }
    }
  }

  private mutating func noteStep() throws {
    done += 1
    guard done & 0x3ff == 0 else { return }
    if !step(done, max(total, done)) {
      throw StoreError(.cancelled, "cannot seal the store: cancelled")
    }
  }

  private func tree(_ name: TreeName) throws -> Tree {
    guard let tree = trees[name.text] else {
      throw FormatError("tree '\(name.text)' of the catalogue is missing", .treeThere)
    }
    return tree
  }

  /// Calls `body` with each key-value pair of a tree.
  private mutating func forEachPair(
    of tree: Tree, _ body: (inout SealCopy, ByteView, ByteView) throws -> Void
  ) throws {
    let cursor = try Cursor(tree, in: transaction)
    var found = try cursor.first()
    while found {
      try body(&self, cursor.key, cursor.value)
      try noteStep()
      found = try cursor.next()
    }
  }

  /// Copies a tree unchanged, and verifies its digest if it has one.
  private mutating func copy(_ name: TreeName, checking content: DigestedContent? = nil) throws {
    try writer.beginTree(name.text)
    var sum = ContentDigest()
    try forEachPair(of: tree(name)) { copy, key, body in
      if let content, let number = ContentDigest(of: content, key: key, body: body) {
        sum += number
      }
      try copy.writer.add(key, body)
    }
    guard let content else { return }
    digests[content] = sum
    try check(content)
  }

  // MARK: Header and catalogue

  /// The versions of the format that an unsealed store with this content requires.
  private func requirement(
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) -> FormatRequirement {
    let names = trees.keys.compactMap { TreeName($0) }.filter { $0 != .seal }
    // Every copy has these two features, whether the original has them or not.
    var features: Set<FormatFeature> = [.contentDigest, .catalogueCopy]
    for entity in entities { features.formUnion(entity.features) }
    for relationship in relationships { features.formUnion(relationship.features) }
    for name in names { features.formUnion(name.features) }
    return FormatRequirement(of: features)
  }

  /// Copies the header, without the marks of imports.
  ///
  /// - Parameter needed: the required versions of an unsealed store; nil for a sealed file, which
  ///   no version may write.
  private mutating func copyHeader(
    _ fingerprint: inout SchemaFingerprint, _ needed: FormatRequirement?
  ) throws {
    try writer.beginTree(TreeName.header.text)
    let known = [HeaderField.format, .uuid, .created, .schema, .model].map(\.key)
    try forEachPair(of: header) { copy, key, body in
      if HeaderField.changedEntity(key) != nil { return }
      guard known.contains(where: { key.elementsEqual($0) }) else {
        throw StoreError.unknownPart("the header field '\(String(decoding: key, as: UTF8.self))'")
      }
      guard key.elementsEqual(HeaderField.format.key) else {
        fingerprint.add(key: key, body: body)
        return try copy.writer.add(key, body)
      }
      var requirement = try FormatRequirement(bytes: body)
      requirement.lowestReader = max(requirement.lowestReader, needed?.lowestReader ?? 0)
      // The catalogue does not show whether vector indexes have lists. The lowest reader does,
      // and a writer must be able to read too.
      requirement.lowestWriter =
        needed.map { max($0.lowestWriter, requirement.lowestReader) }
        ?? SealDescription.lowestWriter
      requirement.bytes._withBytes { fingerprint.add(key: key, body: $0) }
      try copy.add(Array(key), requirement.bytes)
    }
  }

  /// - Parameter sizes: the sizes of entities that differ in the copy, by the keys of their
  ///   counters.
  private mutating func copyCounters(
    _ fingerprint: inout SchemaFingerprint, sizes: [[UInt8]: UInt64]
  ) throws {
    try writer.beginTree(TreeName.counters.text)
    try forEachPair(of: tree(.counters)) { copy, key, body in
      let key = Array(key)
      let body = sizes[key].map(littleEndianBytes) ?? Array(body)
      body._withBytes { body in key._withBytes { fingerprint.add(key: $0, body: body) } }
      try copy.add(key, body)
    }
  }

  /// The sizes of entities whose records may become shorter in the copy, by the keys of their
  /// counters.
  private func cleanedSizes(of entities: [EntityDescription]) throws -> [[UInt8]: UInt64] {
    var sizes: [[UInt8]: UInt64] = [:]
    for entity in entities where entity.keepsSize && !isExact {
      let cleanup = RecordCleanup(entity)
      guard cleanup.isNeeded else { continue }
      var size: UInt64 = 0
      try transaction.forEachPair(of: tree(.records(entity: entity.number))) { key, body in
        let id = key.count == 8 ? key.uint64(at: 0) : 0
        size += UInt64(try cleanup.cleaned(body, id: id)?.count ?? body.count)
      }
      sizes[CounterKey.size(entity: entity.number)] = size
    }
    return sizes
  }

  /// Copies the catalogue, and creates its second copy; returns its fingerprint.
  private mutating func copyCatalogue(_ catalogue: Tree) throws -> [UInt8] {
    var fingerprint = SchemaFingerprint()
    var copies: [(key: [UInt8], body: [UInt8])] = []
    for field in CatalogueCopyKey.fields {
      guard let body = try transaction.get(field.key, in: header) else { continue }
      let key = CatalogueCopyKey.key(of: field)
      copies.append((key, Checksum.sealed(key: key, content: Array(body))))
    }
    try writer.beginTree(TreeName.catalogue.text)
    try forEachPair(of: catalogue) { copy, key, body in
      guard
        CatalogueKey.entityNumber(key) != nil || CatalogueKey.relationshipNumber(key) != nil
      else { throw StoreError.unknownPart("a part of the catalogue") }
      _ = try Checksum.unsealed(key: key, body: body)
      fingerprint.add(key: key, body: body)
      copies.append((Array(key), Array(body)))
      try copy.writer.add(key, body)
    }
    try writer.beginTree(TreeName.catalogueCopy.text)
    for pair in copies.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try add(pair.key, pair.body)
    }
    return fingerprint.value
  }

  private mutating func copyBuckets() throws {
    try writer.beginTree(TreeName.buckets.text)
    var sum = ContentDigest()
    try forEachPair(of: tree(.buckets)) { copy, key, body in
      _ = try Checksum.unsealed(key: key, body: body)
      if let number = ContentDigest(of: .buckets, key: key, body: body) { sum += number }
      try copy.writer.add(key, body)
    }
    digests[.buckets] = sum
  }

  // MARK: Records

  /// Copies the records and indexes of an entity.
  private mutating func copy(_ entity: EntityDescription) throws {
    let name = TreeName.records(entity: entity.number)
    let cleanup = RecordCleanup(entity)
    var (before, after) = (ContentDigest(), ContentDigest())
    var count: UInt64 = 0
    try writer.beginTree(name.text, hasIntegerKeys: true)
    try forEachPair(of: tree(name)) { copy, key, body in
      guard key.count == 8 else {
        throw FormatError("the key of a record has \(key.count) bytes, must have 8", .recordID)
      }
      let id = key.uint64(at: 0)
      guard body.count >= RecordLayout.headerSize + RecordLayout.checksumSize,
        Checksum.fits(body, id: id)
      else {
        throw StoreError.damagedRecord(
          entity: entity.name, recordID: id,
          FormatError("its checksum does not fit its bytes", .recordChecksum))
      }
      count += 1
      before.add(record: id, checksum: body.recordChecksum)
      guard !copy.isExact, let record = try cleanup.cleaned(body, id: id) else {
        after.add(record: id, checksum: body.recordChecksum)
        return try copy.writer.add(key, body)
      }
      try record._withBytes { record in
        after.add(record: id, checksum: record.recordChecksum)
        try copy.writer.add(key, record)
      }
    }
    counts[entity.name] = count
    digests[.records(entity: entity.number)] = before
    try check(.records(entity: entity.number))
    digests[.records(entity: entity.number)] = after
    for index in entity.indexes + entity.building {
      try copy(.index(entity: entity.number, index: index.number))
    }
    for index in entity.computedIndexes {
      try copy(index.tree(of: entity.number))
    }
  }

  // MARK: Digests

  /// Throws when the digest of the copied content differs from the digest in the store.
  private func check(_ content: DigestedContent) throws {
    guard let stored else { return }
    guard stored[content] ?? ContentDigest() == digests[content] ?? ContentDigest() else {
      throw FormatError(
        "the digest of \(content) is not that of the content: something was lost, or an earlier "
          + "state was put back", .digestContent)
    }
  }

  private mutating func writeDigests() throws {
    try writer.beginTree(TreeName.digests.text)
    let pairs = digests.filter { $0.value != ContentDigest() }
      .map { (key: $0.key.key, body: $0.value.bytes) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for pair in pairs { try add(pair.key, pair.body) }
  }
}
