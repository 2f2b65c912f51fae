internal import LMDB
internal import LodestoreFormat

extension BatchMerge {
  /// Writes the only record of the batch.
  func applyAlone() throws(StoreError) -> Outcome {
    return try writeAlone(0)
  }

  /// Writes one record, seeing everything that was written before it.
  func writeAlone(_ position: Int) throws(StoreError) -> Outcome {
    do throws(StoreError) {
      return try batch.withRecord(position) { (record) throws(StoreError) in
        let view = try entity.view(record, id: 0)
        guard let holder = try holder(of: view, at: position) else {
          if let refusal = refusalOfNew(position) { throw refusal }
          return try content(Array(record)) { (content) throws(StoreError) in
            let id = try insert(content, position)
            try tallyLinks(nil, view)
            return .inserted(id)
          }
        }
        guard let stored = try core.record(holder, of: entity) else { throw missing(holder) }
        let old = try self.stored(stored, holder, position)
        let merge: MergeRule.Merged
        do throws(StoreError) {
          merge = try merged(position, holder, old, view)
        } catch  where error.code != .damaged {
          return .rejected(error)
        }
        switch merge {
        case .kept: return .ignored(holder)
        case .incoming: return try replace(holder, with: Array(record))
        case .content(let merged): return try replace(holder, with: merged)
        }
      }
    } catch
      where error.refusesValue
    {
      return .rejected(error)
    }
  }

  private func insert(
    _ content: UnsafeMutableRawBufferPointer, _ position: Int
  ) throws(StoreError) -> UInt64 {
    guard let first = pages.firstID else { return try changes.insert(content) }
    let id = first &+ UInt64(position)
    try changes.restore(content, id: id)
    return id
  }

  private func replace(_ id: UInt64, with record: [UInt8]) throws(StoreError) -> Outcome {
    let links = try linkChange(of: id, record)
    return try content(record) { (content) throws(StoreError) in
      guard case .renew = rule else {
        guard try changes.update(id, to: content) else { return .unchanged(id) }
        if let links { tally?.add(links) }
        return .updated(id)
      }
      if try isSame(id, content) { return .unchanged(id) }
      // Checked before the delete, as what is inserted: a refused record must not remove the stored
      // one.
      return try changes.withDerived(content) { (content) throws(StoreError) in
        try changes.checkRenewal(of: id, with: content)
        _ = try core.delete(id, of: entity)
        if let links { tally?.add(links) }
        return .updated(try changes.insert(content))
      }
    }
  }

  /// Whether an update of the stored record would change nothing.
  private func isSame(
    _ id: UInt64, _ content: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else { return false }
    let stored = try entity.view(bytes, id: id)
    return try changes.withDerived(content, over: stored) { (content) throws(StoreError) in
      try changes.isSame(stored, as: content, id: id)
    }
  }

  /// Returns the links that come and go when the stored record becomes `record`; `nil` without a
  /// tally.
  private func linkChange(
    of id: UInt64, _ record: [UInt8]
  ) throws(StoreError) -> LinkTally.Change? {
    guard let tally, let stored = try core.record(id, of: entity) else { return nil }
    let old = try entity.view(stored, id: id)
    return try record.withBytes { (bytes) throws(StoreError) in
      try tally.change(old, try entity.view(incoming: bytes))
    }
  }

  private func content<R>(
    _ record: [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var record = record
    return try record.withMutableBytes { (bytes) throws(StoreError) in
      try body(bytes.recordContent)
    }
  }

  /// The first unique key of a record in words, with its values; `nil` where it has none.
  func keyText(of position: Int) throws(StoreError) -> String? {
    let view = try entity.view(incoming: batch[position])
    for index in matching.indexes {
      if try core.encodeKey(of: view, id: 0, in: index, of: entity) { continue }
      return "'\(index.name)' is \(KeyText.text(core.key.bytes))"
    }
    return nil
  }

  /// The stored record that the matching indexes lead to; `nil` for a new record.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` when the keys do not agree on one record.
  func holder(of view: RecordView, at position: Int) throws(StoreError) -> UInt64? {
    var ways: [(index: StoredIndex, holder: UInt64?)] = []
    for index in matching.indexes {
      let isGiven =
        !batch.hasParts || KeyParts(of: index, in: entity).given(to: batch, at: position) == .all
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
      // A key without a record is new to a stored record that has no key in that index.
      let hasNone = try core.encodeKey(of: stored, id: found, in: other.index, of: entity)
      if other.holder == nil, hasNone { continue }
      throw .ambiguousKeys(
        entity: entity.name, ways.map { ($0.index.name, $0.holder) }, held: found)
    }
    return found
  }
}
