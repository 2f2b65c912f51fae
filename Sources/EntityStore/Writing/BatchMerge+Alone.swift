internal import LMDB
internal import LodestoreFormat

extension BatchMerge {
  /// Writes a batch of one record.
  func applyAlone() throws(StoreError) -> Outcome {
    return try writeAlone(0)
  }

  /// Merges and writes one record, so that it sees the changes of all records written before it.
  func writeAlone(_ position: Int) throws(StoreError) -> Outcome {
    do throws(StoreError) {
      let view = try batch.view(position, of: entity)
      guard let holder = try holder(of: view, at: position) else {
        if let refusal = refusalOfNew(position) { throw refusal }
        let id = try insert(changes.copy(view.bytes), position)
        try tallyLinks(nil, view)
        return .inserted(id)
      }
      guard let bytes = try core.record(holder, of: entity) else { throw missing(holder) }
      let stored = try changes.stored(bytes, id: holder, isCarriedOver: carriesOver(position))
      switch try merged(position, stored, view) {
      case .kept: return .ignored(holder)
      case .refused(let error): return .rejected(error)
      case .record(let record): return try replace(stored, with: record)
      }
    } catch
      where error.refusesValue
    {
      return .rejected(error)
    }
  }

  private func insert(_ record: UnsealedRecord, _ position: Int) throws(StoreError) -> UInt64 {
    guard let first = pages.firstID else { return try changes.insert(record) }
    let id = first &+ UInt64(position)
    try changes.insert(record, under: id)
    return id
  }

  private func replace(
    _ stored: StoredRecord, with record: UnsealedRecord
  ) throws(StoreError) -> Outcome {
    let links = try tally?.change(stored.view, try entity.view(record))
    guard case .reinsert = rule else {
      guard try changes.update(stored.id, to: record) else { return .unchanged(stored.id) }
      add(links)
      return .updated(stored.id)
    }
    guard let new = try reinserted(stored, with: record) else { return .unchanged(stored.id) }
    // The record to be inserted is checked before the delete, because a refused record must not
    // remove the stored one.
    try changes.checkReinsertion(of: stored.id, with: new)
    _ = try core.delete(stored.id, of: entity)
    add(links)
    return .updated(try changes.insert(new.record))
  }

  /// A record's first unique key and its values in words; `nil` when the record has no unique key.
  func keyText(of position: Int) throws(StoreError) -> String? {
    let view = try batch.view(position, of: entity)
    for index in matching.indexes {
      if try core.encodeKey(of: view, id: 0, in: index, of: entity) { continue }
      return "'\(index.name)' is \(KeyText.text(core.key.bytes))"
    }
    return nil
  }

  /// Returns the stored record that the matching indexes identify; `nil` for a new record.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` when the keys do not agree on one record.
  func holder(of view: RecordView, at position: Int) throws(StoreError) -> UInt64? {
    var ways: [(index: StoredIndex, holder: UInt64?)] = []
    for index in matching.indexes {
      let isGiven =
        !batch.hasParts || KeyParts(of: index, in: entity).coverage(in: batch, at: position) == .all
      guard isGiven, try !core.encodeKey(of: view, id: 0, in: index, of: entity) else {
        if matching.isNamed { throw .withoutKey(entity: entity.name, index: index.name) }
        continue
      }
      ways.append((index, try core.holder(of: core.key.bytes, in: index)))
    }
    guard let found = ways.lazy.compactMap({ $0.holder }).first else { return nil }
    let others = ways.filter { $0.holder != found }
    guard !others.isEmpty else { return found }
    guard let bytes = try core.record(found, of: entity) else { throw missing(found) }
    let stored = try entity.view(bytes, id: found)
    for other in others {
      // An incoming key that no stored record has is acceptable if the found record has no key in
      // that index, as with a null attribute.
      let hasNone = try core.encodeKey(of: stored, id: found, in: other.index, of: entity)
      if other.holder == nil, hasNone { continue }
      throw .ambiguousKeys(
        entity: entity.name, ways.map { ($0.index.name, $0.holder) }, held: found)
    }
    return found
  }
}
