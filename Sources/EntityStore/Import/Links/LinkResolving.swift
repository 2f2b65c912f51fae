internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// A link of a written record whose key had no record yet; stored with the state of the import.
struct PendingLink: Sendable, Codable, Hashable {
  var link: Int
  var id: UInt64
  var page: Int
  var record: Int
  /// The key, encoded as a document.
  var key: [UInt8]
  /// The number of the record's other keys before this one, when the relationship is ordered.
  var place: Int?

  /// The maximum number of links kept for later pages; further links are reported at once.
  static let most = 10_000

  /// The key in the document `bytes`.
  static func value(of bytes: [UInt8]) -> Value {
    let document = try? bytes._withBytes { (bytes) throws(FormatError) in
      try Document(decoding: bytes)
    }
    // A key is neither an array nor an object. For other values the document holds the type, so the
    // type passed here does not matter.
    return document.map { EntityDescription.value(of: $0, for: .string) } ?? .null
  }
}

/// Looks up the keys of one link, and creates missing records when the link requests it.
struct LinkResolver {
  let core: TransactionCore
  let link: ImportedLink
  let end: RelationshipEnd
  private let index: StoredIndex
  private let attribute: EntityDescription.Attribute

  /// Throws when the entity has no such relationship, or the target no such key.
  init(_ link: ImportedLink, of entity: StoredEntity, _ core: TransactionCore) throws(StoreError) {
    self.core = core
    self.link = link
    guard let end = core.schema.end(named: link.name, of: entity), end.target.name == link.target,
      (end.attribute != nil) == link.isToOne
    else {
      throw .unknownRelationship(
        link.name, entity: entity.name, known: core.schema.ends(of: entity).compactMap(\.name))
    }
    self.end = end
    guard let attribute = end.target.description.attribute(named: link.key),
      let index = end.target.index(over: [attribute.number]), index.isUnique
    else {
      throw .unknownIndex(
        entity: end.target.name, attributes: link.key,
        known: end.target.indexes.filter(\.isUnique).map(\.name))
    }
    self.attribute = attribute
    self.index = index
  }

  /// Returns the ids of the records with `keys`, creating missing records when the link requests
  /// it.
  ///
  /// The id is 0 for a key that no record has.
  ///
  /// - Parameter made: receives the ids of created records.
  func ids(
    of keys: [Value], made: inout [UInt64], _ core: WriteCore
  ) throws(StoreError) -> [UInt64] {
    var found = try ids(of: keys)
    guard link.makesMissing else { return found }
    var new: [Value: UInt64] = [:]
    for (position, key) in keys.enumerated()
    where found[position] == 0 && key.fits(attribute.type) {
      if new[key] == nil {
        let id = try make(key, core)
        new[key] = id
        if id > 0 { made.append(id) }
      }
      if let id = new[key], id > 0 { found[position] = id }
    }
    return found
  }

  /// Returns the ids of the records with `keys`; 0 for a key that no record has.
  func ids(of keys: [Value]) throws(StoreError) -> [UInt64] {
    var found = [UInt64](repeating: 0, count: keys.count)
    let entries = KeyEntries(expectedCount: keys.count)
    for (position, key) in keys.enumerated() where key.fits(attribute.type) {
      core.key.reset()
      do { try core.key.append(key) } catch { continue }
      core.key.finishTuple()
      entries.append(key: core.key.bytes, recordID: UInt64(position))
    }
    entries.sort()
    try entries.forEachExistingKey(in: index, core: core) { (entry, holder) throws(StoreError) in
      found[Int(entries.recordID(at: entry))] = holder
      return true
    }
    return found
  }

  /// Inserts a record with only the key; returns 0 when other attributes are required.
  private func make(_ key: Value, _ core: WriteCore) throws(StoreError) -> UInt64 {
    let entity = end.target
    var values: [Value] = []
    for stored in entity.description.declaredAttributes {
      var value = stored.number == attribute.number ? key : stored.defaultValue
      if value == .null, !stored.isOptional {
        guard stored.derivation != nil else { return 0 }
        value = .placeholder(of: stored.type)
      }
      values.append(value)
    }
    let changes = core.changes(of: entity)
    do {
      return try changes.insert(try changes.encode(values))
    } catch  where error.code == .invalidValue || error.code == .uniqueViolation {
      // The default values may break a rule, or a stored record may already have the default value
      // of another unique attribute. Then no record is created.
      return 0
    }
  }
}

extension IncomingRecords {
  /// Writes the id into `slot` of the record at `row`; writes null for 0.
  ///
  /// The records belong to this import, and nobody else reads them at this time.
  mutating func setID(_ id: UInt64, in slot: RecordLayout.Slot, at row: Int) throws(StoreError) {
    let bytes = MutableByteView(mutating: self[row])
    try wrappingErrors {
      try slot.write(id == 0 ? .null : .integer(Int64(bitPattern: id)), in: bytes)
    }
  }
}
