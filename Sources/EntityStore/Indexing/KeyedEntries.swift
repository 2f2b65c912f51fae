internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Collects changes of the entries of an element index or place index, and writes them in key
/// order.
final class KeyedEntries: ComputedEntries {
  let index: StoredComputedIndex
  private let entity: StoredEntity
  private let core: TreeWriteCore
  private let memoryLimit: Int
  // Only one thread uses the object. An exclusivity check for each access would slow every batch.
  @exclusivity(unchecked) private var added: KeyEntries?
  @exclusivity(unchecked) private var removed: KeyEntries?
  @exclusivity(unchecked) private var encoder = KeyEncoder()
  /// The range of the record ids of the entries in ``added``.
  @exclusivity(unchecked) private var lowest = UInt64.max
  @exclusivity(unchecked) private var highest: UInt64 = 0

  init(_ index: StoredComputedIndex, of entity: StoredEntity, core: TreeWriteCore) {
    self.index = index
    self.entity = entity
    self.core = core
    memoryLimit = min(core.store.options.batchMemoryInBytes / 4, KeyEntries.largestByteCount)
  }

  /// Notes the difference between the entries of `old` and `new`, either of which may be `nil`.
  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    if let old, let new, hasSameValues(old, new) { return }
    // ``write()`` first removes entries, and then adds entries. Two changes of one record can
    // therefore not wait together: the first may add an entry that the second removes.
    if id >= lowest, id <= highest { try write() }
    do throws(FormatError) {
      if let old, let new {
        let before = try keys(of: old)
        let after = try keys(of: new)
        for key in before where !after.contains(key) { key._withBytes { remove($0, id) } }
        for key in after where !before.contains(key) { key._withBytes { add($0, id) } }
      } else if let new {
        let start = added?.count ?? 0
        try forEachKey(of: new) { key in add(key, id, unlessThereFrom: start) }
      } else if let old {
        try forEachKey(of: old) { key in remove(key, id) }
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
    if (added?.memoryToSort ?? 0) + (removed?.memoryToSort ?? 0) > memoryLimit { try write() }
  }

  /// Notes an entry to add to the index.
  ///
  /// - Parameter start: the index in ``added`` at which the entries of the record begin. An entry
  ///   that is already there from this index on is not added again, since elements may repeat.
  private func add(_ tuple: ByteView, _ id: UInt64, unlessThereFrom start: Int = .max) {
    let entries = added ?? KeyEntries(expectedCount: 64)
    added = entries
    let key = withID(tuple, id)
    // With many elements, the entry of a repeated element is put into the index twice, which
    // changes nothing.
    if start < entries.count, entries.count - start < 64 {
      for entry in start..<entries.count where compareKeys(entries.key(at: entry), key) == 0 {
        return
      }
    }
    entries.append(key: key, recordID: id)
    lowest = min(lowest, id)
    highest = max(highest, id)
  }

  private func remove(_ tuple: ByteView, _ id: UInt64) {
    let entries = removed ?? KeyEntries(expectedCount: 64)
    removed = entries
    entries.append(key: withID(tuple, id), recordID: id)
  }

  /// Returns the key of an entry, which is valid until the next call.
  private func withID(_ tuple: ByteView, _ id: UInt64) -> ByteView {
    if tuple.baseAddress != encoder.bytes.baseAddress {
      encoder.reset()
      encoder.append(raw: tuple)
    }
    encoder.append(recordID: id)
    return encoder.bytes
  }

  private func forEachKey(of view: RecordView, _ body: (ByteView) -> Void) throws(FormatError) {
    try index.description.forEachKey(in: view, entity.description, &encoder, body)
  }

  private func keys(of view: RecordView) throws(FormatError) -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    try forEachKey(of: view) { keys.insert(Array($0)) }
    return keys
  }

  /// Writes all noted changes.
  func write() throws(StoreError) {
    let added = self.added
    self.added = nil
    added?.sort()
    if let removed {
      self.removed = nil
      removed.sort()
      let none = KeyEntries(expectedCount: 0)
      try (added ?? none).write(into: index.entries, removing: removed, core: core)
    } else {
      try added?.write(into: index.entries, core: core)
    }
    lowest = .max
    highest = 0
  }

  private func hasSameValues(_ old: RecordView, _ new: RecordView) -> Bool {
    guard old.layout === new.layout else { return false }
    return index.description.sources.allSatisfy { source in
      old.layout.slotIndex(ofAttribute: source.attribute).map {
        old.hasSameValue(as: new, at: old.layout.slots[$0])
      } ?? false
    }
  }
}
