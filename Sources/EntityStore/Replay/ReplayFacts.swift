internal import LMDB
internal import LodestoreBytes
package import LodestoreFormat

/// The facts about a store that decide whether a copy can follow it, and from where.
package struct ReplayFacts: Sendable, Hashable {
  /// The 16 bytes of the UUID in the header of the file.
  package var storeID: [UInt8]
  /// The number of the last write in the history; 0 before the first.
  package var lastWrite: UInt64
  /// The number of the first write that the history has or will have.
  package var firstKept: UInt64
  /// The SHA-256 of the catalogue.
  package var schema: [UInt8]
  /// The names of the entities without a history.
  package var unrecordedEntities: [String]
  /// The names of the entities whose history keeps no images.
  ///
  /// All writes between two reads are one step when such an entity has changed.
  package var entitiesWithoutImages: [String]
  package var digests: ReplayDigests
}

/// The name of an entity, and the id of its next new record.
package struct ReplayEntity: Sendable, Hashable {
  package var number: EntityNumber
  package var name: String
  package var nextID: UInt64
}

extension ReadableTransaction where Self: ~Copyable {
  /// The entities of the store, in the order of the catalogue.
  package func replayEntities() throws -> [ReplayEntity] {
    let core = access.core
    return try core.schema.entities.map {
      ReplayEntity(number: $0.number, name: $0.name, nextID: try core.storedNextID(of: $0))
    }
  }

  /// The facts about the state that this transaction sees.
  ///
  /// - Parameters:
  ///   - entities: the entities that a copy has; `nil` for all.
  ///   - known: digests of an earlier state. Buckets are read only if their digest differs.
  package func replayFacts(
    entities: Set<String>? = nil, since known: ReplayDigests? = nil
  ) throws -> ReplayFacts {
    let core = access.core
    let scope = try ReplayScope(entities, core)
    let log = HistoryLog(core)
    return ReplayFacts(
      storeID: try log.storeIDBytes(), lastWrite: try log.lastNumber(),
      firstKept: (try log.purged()?.number ?? 0) + 1, schema: try core.schemaFingerprint(),
      unrecordedEntities: scope.entities.filter { $0.description.history == nil }.map(\.name),
      entitiesWithoutImages: scope.entities
        .filter { !($0.description.history?.keepsImages ?? true) }.map(\.name),
      digests: try scope.digests(core, since: known))
  }

  /// Throws unless changes of all these entities can be replayed in a copy.
  ///
  /// - Parameter entities: the names of the entities; `nil` for all.
  /// - Throws: ``ReplayError`` for entities without a history, and for relationships to entities
  ///   that are left out.
  package func checkReplayable(entities: Set<String>? = nil) throws {
    try ReplayScope(entities, access.core).check()
  }
}

/// The entities and relationships that are replayed.
struct ReplayScope {
  let entities: [StoredEntity]
  let relationships: [StoredRelationship]
  /// Whether some entities are left out.
  let isPart: Bool
  private let numbers: Set<EntityNumber>
  private let relationshipNumbers: Set<UInt32>

  /// - Parameter names: the names of the entities; `nil` for all.
  init(_ names: Set<String>?, _ core: TransactionCore) throws(ReplayError) {
    let schema = core.schema
    if let unknown = names?.sorted().first(where: { schema.entity(named: $0) == nil }) {
      throw .unknownEntity(unknown)
    }
    entities = schema.entities.filter { names?.contains($0.name) ?? true }
    isPart = entities.count < schema.entities.count
    let numbers = Set(entities.map(\.number))
    self.numbers = numbers
    relationships = schema.relationships.filter { relationship in
      numbers.contains(relationship.from.number) && numbers.contains(relationship.to.number)
    }
    relationshipNumbers = Set(relationships.map(\.description.number))
    let crossing = schema.relationships.filter { relationship in
      numbers.contains(relationship.from.number) != numbers.contains(relationship.to.number)
    }
    guard crossing.isEmpty else {
      throw .leftOutRelationships(
        crossing.map { relationship in
          let end = relationship.end(.from)
          return (end.name == nil ? end.opposite : end).label
        }.sorted())
    }
  }

  /// Throws when an entity has no history.
  func check() throws(ReplayError) {
    let unrecorded = entities.filter { $0.description.history == nil }.map(\.name)
    if !unrecorded.isEmpty { throw .unrecorded(unrecorded) }
  }

  func has(_ entity: EntityNumber) -> Bool { numbers.contains(entity) }

  func has(relationship: UInt32) -> Bool { relationshipNumbers.contains(relationship) }

  // MARK: Digests

  /// The digests of the state that a transaction sees.
  ///
  /// - Parameters:
  ///   - known: digests of an earlier state. Buckets are read only if their digest differs.
  ///   - ledger: the changes of a write, which the file does not have yet.
  func digests(
    _ core: TransactionCore, since known: ReplayDigests?, _ ledger: ContentLedger? = nil
  ) throws -> ReplayDigests {
    func digest(_ content: DigestedContent) throws -> ContentDigest {
      guard let stored = try core.storedDigest(of: content) else {
        return try core.computedDigest(of: content)
      }
      return ledger?.digest(of: content, stored: stored) ?? stored
    }
    var contents: [[UInt8]: [UInt8]] = [:]
    for content in self.contents {
      let digest = try digest(content)
      if digest != ContentDigest() { contents[content.key] = digest.bytes }
    }
    var total = try digest(.buckets)
    try core.forEachBucketPair(prefix: Array(Buckets.libraryPrefix.utf8)) { key, body in
      if let digest = ContentDigest(of: .buckets, key: key, body: body) { total -= digest }
    }
    if let known, known.bucketTotal == total.bytes {
      return ReplayDigests(
        contents: contents, bucketTotal: total.bytes, buckets: known.buckets)
    }
    var buckets: [String: ContentDigest] = [:]
    try core.forEachBucketPair { key, body in
      guard let name = BucketKey.split(key)?.bucket, !Buckets.isOfLibrary(name) else { return }
      if let digest = ContentDigest(of: .buckets, key: key, body: body) {
        buckets[name, default: ContentDigest()] += digest
      }
    }
    return ReplayDigests(
      contents: contents, bucketTotal: total.bytes, buckets: buckets.mapValues(\.bytes))
  }

  /// The digested records and links.
  var contents: [DigestedContent] {
    entities.map { .records(entity: $0.number) }
      + relationships.filter { $0.linksFrom != nil }
      .map { .links(relationship: $0.description.number) }
  }

  /// The name of digested content, for messages.
  func name(of content: DigestedContent) -> String {
    switch content {
    case .records(let number):
      entities.first { $0.number == number }?.name ?? "entity \(number)"
    case .links(let number):
      relationships.first { $0.description.number == number }.map { relationship in
        let end = relationship.end(.from)
        return (end.name == nil ? end.opposite : end).label
      } ?? "relationship \(number)"
    case .buckets: "buckets"
    }
  }
}

extension TransactionCore {
  /// The SHA-256 of the catalogue.
  func schemaFingerprint() throws -> [UInt8] {
    var fingerprint = SchemaFingerprint()
    try transaction.forEachPair(of: store.trees.catalogue) { key, body in
      fingerprint.add(key: key, body: body)
    }
    return fingerprint.value
  }

  /// Visits the stored pairs of all buckets whose keys begin with `prefix`.
  func forEachBucketPair(
    prefix: [UInt8] = [], _ body: (_ key: ByteView, _ body: ByteView) throws -> Void
  ) throws {
    let cursor = try Cursor(store.trees.buckets, in: transaction)
    try cursor.walk(.prefix(prefix)) { key, value in
      try body(key, value)
      return true
    }
  }

  /// The digest of content in the file, without the changes of this transaction.
  ///
  /// Returns `nil` for a file of an earlier version, which has no digests.
  func storedDigest(of content: DigestedContent) throws -> ContentDigest? {
    guard let tree = tree(.digests) else { return nil }
    guard let bytes = try transaction.get(content.key, in: tree) else { return ContentDigest() }
    guard let digest = ContentDigest(bytes: bytes) else {
      throw FormatError("a digest has \(bytes.count) bytes, must have 16", .digestLength)
    }
    return digest
  }

  /// The digest of content as this transaction sees it, computed from the content.
  func computedDigest(of content: DigestedContent) throws -> ContentDigest {
    var digest = ContentDigest()
    let tree: Tree? =
      switch content {
      case .records(let entity): schema.entity(entity)?.records
      case .links(let relationship): schema.relationship(relationship)?.linksFrom?.tree
      case .buckets: store.trees.buckets
      }
    guard let tree else { return digest }
    try transaction.forEachPair(of: tree) { key, body in
      if let number = ContentDigest(of: content, key: key, body: body) { digest += number }
    }
    return digest
  }
}

extension HistoryLog {
  /// The bytes of the UUID of the file.
  func storeIDBytes() throws(StoreError) -> [UInt8] {
    let id = try storeID()
    return withUnsafeBytes(of: id.uuid) { Array($0) }
  }
}
