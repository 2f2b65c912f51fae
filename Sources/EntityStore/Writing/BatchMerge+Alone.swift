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
            let id = try changes.insert(content)
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
      where error.code == .uniqueViolation || error.code == .mergeConflict
      || error.code == .unstorableValue || error.code == .invalidValue
    {
      return .rejected(error)
    }
  }

  private func replace(_ id: UInt64, with record: [UInt8]) throws(StoreError) -> Outcome {
    let links = try linkChange(of: id, record)
    return try content(record) { (content) throws(StoreError) in
      guard case .renew = rule else {
        guard try changes.update(id, to: content) else { return .unchanged(id) }
        if let links { tally?.add(links) }
        return .updated(id)
      }
      if let stored = try core.record(id, of: entity),
        try changes.isSame(
          try entity.view(stored, id: id), as: changes.seal(content, id: id), id: id)
      {
        return .unchanged(id)
      }
      // Checked before the delete: a refused record must not remove the stored one.
      try record.withBytes { (bytes) throws(StoreError) in
        try changes.checkRenewal(of: id, with: bytes)
      }
      _ = try core.delete(id, of: entity)
      if let links { tally?.add(links) }
      return .updated(try changes.insert(content))
    }
  }

  /// What becomes of links when the stored record becomes `record`; `nil` where nobody asks.
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

  /// The stored record that the matching indexes lead to.
  private func holder(of view: RecordView, at position: Int) throws(StoreError) -> UInt64? {
    var found: (id: UInt64, index: StoredIndex)?
    for index in matching {
      if batch.hasParts, lacksKey(position, requiredAttributes(in: index)) { continue }
      let hasNull = try core.encodeKey(of: view, id: 0, in: index, of: entity)
      guard !hasNull, let holder = try core.holder(of: core.key.bytes, in: index) else { continue }
      if let found, found.id != holder {
        throw .severalHolders(entity: entity.name, indexes: [found.index.name, index.name])
      }
      if found == nil { found = (holder, index) }
    }
    return found?.id
  }
}
