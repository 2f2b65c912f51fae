internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The ids and the values of an entity's records, according to its intact indexes.
///
/// Memory holds a hash of each entry, and the ids as ranges. Only entities with damage need it.
final class IndexEvidence {
  let ids: IDRuns
  private let entity: EntityDescription
  private var indexes: [(index: EntityDescription.Index, hashes: Set<Int>)] = []
  private var encoder = KeyEncoder()

  /// Fails if no index is intact.
  init?(_ entity: EntityDescription, _ store: DamagedStore) throws {
    self.entity = entity
    var ids = IDRuns()
    for index in entity.indexes {
      let name = TreeName.index(entity: entity.number, index: index.number).text
      guard store.wholeTrees.contains(name), let record = store.trees[name] else { continue }
      var hashes: Set<Int> = []
      var found = IDRuns()
      var isWhole = true
      try store.file.forEachPair(of: record) { pair in
        let id = KeyDecoder.recordID(ofEntry: pair.key, pair.body, isUnique: index.isUnique)
        guard let id, id > 0, id < 1 << 63 else {
          isWhole = false
          return
        }
        found.append(id)
        hashes.insert(Self.hash(pair.key, id))
      }
      guard isWhole else { continue }
      found.normalize()
      if indexes.isEmpty { ids = found }
      // Two indexes with different records are no evidence.
      if ids == found { indexes.append((index, hashes)) }
    }
    self.ids = ids
    if indexes.isEmpty { return nil }
  }

  private static func hash(_ key: ByteView, _ id: UInt64) -> Int {
    var hasher = Hasher()
    hasher._combine(bytes: key)
    hasher.combine(id)
    return hasher.finalize()
  }

  /// Whether each index has the entry of a record.
  func confirms(_ id: UInt64, _ view: borrowing RecordView) -> Bool {
    for (index, hashes) in indexes {
      guard let hasNull = try? IndexTuple.encode(index, of: view, in: entity, into: &encoder) else {
        return false
      }
      if IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull) {
        encoder.append(recordID: id)
      }
      if !hashes.contains(Self.hash(encoder.bytes, id)) { return false }
    }
    return true
  }
}
