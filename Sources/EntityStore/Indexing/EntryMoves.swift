internal import LMDB
internal import LodestoreFormat

/// What a batch takes out of one index and what it puts into it.
///
/// Each record that is noted has a higher id than those before it that were noted in the same way.
enum EntryMoves {
  case keys(leaving: EntryArenaBox, coming: EntryArenaBox)
  case numbers(leaving: NumberEntries, coming: NumberEntries)

  init(in index: StoredIndex, of entity: StoredEntity, expectedCount: Int) {
    if let leaving = NumberEntries(index, of: entity, expectedCount: 0),
      let coming = NumberEntries(index, of: entity, expectedCount: expectedCount)
    {
      self = .numbers(leaving: leaving, coming: coming)
    } else {
      self = .keys(
        leaving: EntryArenaBox(expectedCount: 0),
        coming: EntryArenaBox(expectedCount: expectedCount))
    }
  }

  /// Notes a new record in the index at `place`.
  @inline(__always)
  func add(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch self {
    case .keys(_, let coming):
      try keys.append(view, id: id, at: place, to: coming, core)
    case .numbers(_, let coming):
      coming.append(try keys.word(of: view, id: id, for: coming, core), recordID: id)
    }
  }

  /// Notes a record that goes.
  func remove(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch self {
    case .keys(let leaving, _):
      try keys.append(view, id: id, at: place, to: leaving, core)
    case .numbers(let leaving, _):
      leaving.append(try keys.word(of: view, id: id, for: leaving, core), recordID: id)
    }
  }

  /// Notes a record that becomes another one, where its key does.
  @inline(__always)
  func change(
    _ old: RecordView, to new: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int,
    core: TransactionCore
  ) throws(StoreError) {
    switch self {
    case .keys(let leaving, let coming):
      if keys.areSurelySame(place, old, new) { return }
      try keys.encode(place, of: old, id: id, core)
      swap(&core.key, &core.oldKey)
      try keys.encode(place, of: new, id: id, core)
      if compareKeys(core.key.bytes, core.oldKey.bytes) == 0 { return }
      leaving.append(key: core.oldKey.bytes, recordID: id)
      coming.append(key: core.key.bytes, recordID: id)
    case .numbers(let leaving, let coming):
      let before = try keys.word(of: old, id: id, for: leaving, core)
      let after = try keys.word(of: new, id: id, for: coming, core)
      if before == after { return }
      leaving.append(before, recordID: id)
      coming.append(after, recordID: id)
    }
  }

  /// Writes all of them, in one pass over the index.
  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError) {
    switch self {
    case .keys(let leaving, let coming):
      leaving.sort()
      coming.sort()
      try coming.write(into: index, removing: leaving, core: core)
    case .numbers(let leaving, let coming):
      leaving.sort()
      coming.sort()
      try coming.write(into: index, removing: leaving, core: core)
    }
  }
}
