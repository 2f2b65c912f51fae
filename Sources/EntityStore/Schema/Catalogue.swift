internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Reads and writes the trees `lodestore` and `catalogue`.
enum Catalogue {
  fileprivate static let decoded = DecodedDescriptions()

  /// The trees that every store has.
  struct Trees: Sendable {
    var header: Tree
    var catalogue: Tree
    var counters: Tree
    var buckets: Tree
    var imports: Tree
  }

  /// Throws if `key` has a number of this version and cannot be the key of a description.
  ///
  /// Keys that begin with a higher number belong to later versions and are accepted.
  fileprivate static func checkKey(_ key: ByteView) throws(FormatError) {
    guard let kind = key.first, kind < 3, CatalogueKey.entityNumber(key) == nil,
      CatalogueKey.relationshipNumber(key) == nil
    else { return }
    throw FormatError(
      "the catalogue has a key of \(key.count) bytes that begins with \(kind), which is no "
        + "key of a description", .catalogueKey)
  }

  /// Throws if the file has records or links that the catalogue does not describe.
  ///
  /// A damaged key may look like one of a later version. Without this check, the store would take
  /// the entity of the damaged description for a new one, and create it next to its old records.
  static func checkTrees(
    _ trees: [(name: String, entryCount: UInt64)], _ entities: [EntityDescription],
    _ relationships: [RelationshipDescription]
  ) throws(FormatError) {
    let entityNumbers = Set(entities.map(\.number))
    let relationshipNumbers = Set(relationships.map(\.number))
    for (name, entryCount) in trees where entryCount > 0 {
      let isKnown =
        switch TreeName(name) {
        case .records(let entity): entityNumbers.contains(entity)
        case .links(let relationship, _): relationshipNumbers.contains(relationship)
        default: true
        }
      if isKnown { continue }
      throw FormatError(
        "the tree '\(name)' has \(entryCount) entries, and the catalogue does not describe its "
          + "entity or relationship", .treeGivenUp)
    }
  }

  /// Writes the content of a new store's first commit.
  static func initialise(_ transaction: WritingTransaction, environment: Environment, now: Double)
    throws
  {
    func tree(_ name: TreeName) throws -> Tree {
      try environment.openOrMakeTree(name, in: transaction)
    }
    let header = try tree(.header)
    let catalogue = try tree(.catalogue)
    _ = try tree(.counters)
    _ = try tree(.buckets)
    _ = try tree(.imports)
    _ = try tree(.digests)
    try transaction.put(
      HeaderField.format.key, FormatRequirement(of: [.base, .contentDigest, .catalogueCopy]).bytes,
      in: header)
    try transaction.put(HeaderField.uuid.key, newUUID().bytes, in: header)
    try transaction.put(
      HeaderField.created.key, littleEndianBytes(now.bitPattern), in: header)
    try transaction.put(HeaderField.schema.key, littleEndianBytes(UInt64(0)), in: header)
    try CatalogueCopy.update(header, catalogue, in: transaction)
  }

  /// A random UUID with version 4 and variant 1 of RFC 9562.
  fileprivate static func newUUID() -> UUIDBytes {
    var generator = SystemRandomNumberGenerator()
    return UUIDBytes(
      high: generator.next() & ~0xf000 | 0x4000, low: generator.next() & ~(3 << 62) | 2 << 62)
  }
}

extension Catalogue.Trees {
  func schemaNumber(in transaction: Transaction) throws -> SchemaNumber {
    let bytes = try HeaderField.schema.key._withBytes { (key) throws(LMDBError) in
      try transaction.get(key, in: header)
    }
    guard let bytes, bytes.count == 8 else {
      throw FormatError("the header has no 8-byte field 'schema'")
    }
    return SchemaNumber(bytes.uint64(at: 0))
  }

  /// Returns the descriptions of all entities of the file.
  func descriptions(in transaction: Transaction) throws -> [EntityDescription] {
    var descriptions: [EntityDescription] = []
    try transaction.forEachPair(of: catalogue) { key, body in
      try Catalogue.checkKey(key)
      guard let number = CatalogueKey.entityNumber(key) else { return }
      let pair = Array(key) + Array(body)
      let description = try Catalogue.decoded.description(of: pair) { () throws(FormatError) in
        let content = try Checksum.unsealed(key: key, body: body)
        return try EntityDescription(number: number, document: Document(decoding: content))
      }
      descriptions.append(description)
    }
    return descriptions
  }

  func relationships(in transaction: Transaction) throws -> [RelationshipDescription] {
    var relationships: [RelationshipDescription] = []
    try transaction.forEachPair(of: catalogue) { key, body in
      guard let number = CatalogueKey.relationshipNumber(key) else { return }
      let content = try Checksum.unsealed(key: key, body: body)
      relationships.append(
        try RelationshipDescription(number: number, document: Document(decoding: content)))
    }
    return relationships
  }

  func put(_ relationship: RelationshipDescription, in transaction: WritingTransaction) throws {
    try require(relationship.features, in: transaction)
    let key = CatalogueKey.relationship(relationship.number)
    let document = relationship.document
    _ = try RelationshipDescription(number: relationship.number, document: document)
    try transaction.put(
      key, Checksum.sealed(key: key, content: document.encoded()), in: catalogue)
    ContentLedger.of(transaction, self).catalogueChanged()
  }

  /// Stores the position at which the building of an index continues.
  ///
  /// - Parameter next: the id of the first record without an entry; `nil` if the index is complete
  ///   or removed.
  func putNextToIndex(
    _ next: UInt64?, at counter: [UInt8], in transaction: WritingTransaction
  ) throws {
    if let next {
      try transaction.put(counter, littleEndianBytes(next), in: counters)
    } else {
      _ = try transaction.delete(counter, in: counters)
    }
  }

  func remove(_ relationship: RelationshipDescription, in transaction: WritingTransaction) throws {
    _ = try transaction.delete(CatalogueKey.relationship(relationship.number), in: catalogue)
    ContentLedger.of(transaction, self).catalogueChanged()
  }

  func remove(_ description: EntityDescription, in transaction: WritingTransaction) throws {
    _ = try transaction.delete(CatalogueKey.entity(description.number), in: catalogue)
    ContentLedger.of(transaction, self).catalogueChanged()
  }

  func put(_ description: EntityDescription, in transaction: WritingTransaction) throws {
    try description.checkReadable()
    try require(description.features, in: transaction)
    let key = CatalogueKey.entity(description.number)
    try transaction.put(
      key, Checksum.sealed(key: key, content: description.document.encoded()), in: catalogue)
    ContentLedger.of(transaction, self).catalogueChanged()
  }

  func raiseSchemaNumber(in transaction: WritingTransaction) throws {
    let number = try schemaNumber(in: transaction.reads)
    guard number < .highest else {
      throw number == .highest
        ? StoreError.schemaNumbersUsedUp(number.rawValue)
        : StoreError.damagedSchemaNumber(number.rawValue)
    }
    try transaction.put(
      HeaderField.schema.key, littleEndianBytes(number.next.rawValue), in: header)
  }

  /// Returns the version of the model, or 0 if no program has set one.
  func modelVersion(in transaction: Transaction) throws -> UInt64 {
    guard let bytes = try transaction.get(HeaderField.model.key, in: header) else { return 0 }
    guard bytes.count == 8 else {
      throw FormatError("the header's field 'model' has \(bytes.count) bytes, must have 8")
    }
    return bytes.uint64(at: 0)
  }

  func putModelVersion(_ version: UInt64, in transaction: WritingTransaction) throws {
    try transaction.put(HeaderField.model.key, littleEndianBytes(version), in: header)
    ContentLedger.of(transaction, self).catalogueChanged()
  }

  /// Gives the file a new UUID.
  func renewUUID(in transaction: WritingTransaction) throws {
    try transaction.put(HeaderField.uuid.key, Catalogue.newUUID().bytes, in: header)
    ContentLedger.of(transaction, self).catalogueChanged()
  }
}
