internal import LMDB
internal import LodestoreFormat

extension BatchMerge {
  /// Writes all records that do not go by themselves.
  func writeTogether() throws(StoreError) {
    let writes = ChangeBatch(changes, expectedCount: batch.count, core: core)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      let held = heldPositions()
      for (number, item) in held.enumerated() {
        if number &+ 8 < held.count { batch.fetchAhead(held[number &+ 8].index) }
        try change(item.index, item.word, cursor, writes)
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    try append(writes)
    // Which records have the keys of the batch was found before anything was written.
    try writes.finish(checksUnique: false)
  }

  /// The positions in the batch that have stored records, with the ids of these as words, by ascending
  /// ids: neighbours are read together.
  private func heldPositions() -> [SortItem] {
    var held = WordSort()
    held.reserve(batch.count)
    for position in 0..<batch.count where !isApart[position] && isOpen(position) {
      if let holder = holders[position] { held.append(holder, index: position) }
    }
    held.sort(tick: {})
    return held.items
  }

  /// Whether nothing has become of the record at `place` yet.
  @inline(__always)
  private func isOpen(_ place: Int) -> Bool {
    if case .none = outcomes[place] { true } else { false }
  }

  // MARK: Stored records

  private func change(
    _ place: Int, _ holder: UInt64, _ cursor: Cursor, _ writes: ChangeBatch
  ) throws {
    // Neighbours mostly lie side by side.
    let isNext = try cursor.integerKey &+ 1 == holder && cursor.next()
    guard try isNext && cursor.integerKey == holder || cursor.seek(holder) else {
      throw missing(holder)
    }
    if isUnchanged(place, cursor.value, holder) {
      outcomes[place] = .unchanged(holder)
      return
    }
    let stored = try changes.stored(
      cursor.value, id: holder,
      isCarriedOver: rule.keepsStoredValues || !batch.isWhole(place))
    let incoming = batch[place]
    guard try change(place, holder, stored, incoming) else { return }
    if case .renew = rule {
      try core.raiseCounter(of: entity)
      try writes.remove(stored, id: holder, at: cursor)
      holders[place] = nil
      isRenewed[place] = true
      if !batch.isWhole(place) { renewed[place] = Array(scratch.bytes) }
    } else {
      if rule.makesOtherKeys || !batch.isWhole(place) {
        try setApartOtherKeys(
          place, stored, try entity.view(scratch.bytes, id: holder),
          try entity.view(incoming, id: holder), holder)
        if isApart[place] { return }
      }
      try writes.replace(stored, id: holder, with: scratch.bytes, at: cursor)
      outcomes[place] = .updated(holder)
    }
  }

  /// Leaves the sealed record that the stored one becomes in ``scratch``; false, with the outcome
  /// noted, when it stays.
  private func change(
    _ place: Int, _ holder: UInt64, _ stored: RecordView, _ incoming: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    let isWhole = batch.isWhole(place)
    if case .replace = rule, isWhole {
      scratch.take(incoming)
    } else {
      do throws(StoreError) {
        let input = MergeInput(
          core: core, entity: entity, id: holder, stored: stored,
          incoming: try entity.view(incoming, id: 0))
        switch try rule.merge(input, isWhole: isWhole, isGiven: { batch.isGiven($0, at: place) }) {
        case .kept:
          outcomes[place] = .ignored(holder)
          return false
        case .incoming: scratch.take(incoming)
        case .content(let merged):
          try core.checkSize(merged.count - RecordLayout.checksumSize, of: entity)
          merged.withUnsafeBytes { scratch.take($0) }
        }
      } catch  where error.code != .damaged {
        outcomes[place] = .rejected(error)
        return false
      }
    }
    changes.seal(
      UnsafeMutableRawBufferPointer(
        rebasing: scratch.mutableBytes.dropLast(RecordLayout.checksumSize)), id: holder)
    if try isSame(stored, holder) {
      outcomes[place] = .unchanged(holder)
      return false
    }
    if let refusal = try changes.refusal(of: scratch.bytes, id: holder) {
      outcomes[place] = .rejected(refusal)
      return false
    }
    return true
  }

  /// Whether a stored record, of any layout, has the values of ``scratch``.
  private func isSame(_ stored: RecordView, _ id: UInt64) throws(StoreError) -> Bool {
    if stored.layout === entity.layout { return core.isSame(stored.bytes, scratch.bytes) }
    return try core.carriedOver(stored, id: id, of: entity).withUnsafeBytes {
      core.isSame($0, scratch.bytes)
    }
  }

  /// Whether a stored record has the bytes of the incoming one, as most records of an import that
  /// comes again have; its checksum may not be that of its bytes, and is looked at as the option says.
  @inline(__always)
  private func isUnchanged(
    _ place: Int, _ stored: UnsafeRawBufferPointer, _ holder: UInt64
  ) -> Bool {
    guard rule.keepsEqualRecords, batch.isWhole(place) else { return false }
    let incoming = batch[place]
    let count = incoming.count - RecordLayout.checksumSize
    return stored.count == incoming.count
      && core.isSame(
        UnsafeRawBufferPointer(rebasing: stored[..<count]),
        UnsafeRawBufferPointer(rebasing: incoming[..<count]))
      && changes.isSound(stored, id: holder)
  }

  /// Whether a stored record, of any layout, has the values of `record`.
  func isSame(
    _ stored: RecordView, _ record: [UInt8], id: UInt64
  ) throws(StoreError) -> Bool {
    if stored.layout === entity.layout {
      return record.withBytes { core.isSame(stored.bytes, $0) }
    }
    return try core.carriedOver(stored, id: id, of: entity) == record
  }

  /// Sets the record apart when a merge gave it a unique key that neither record had.
  private func setApartOtherKeys(
    _ place: Int, _ stored: RecordView, _ record: RecordView, _ incoming: RecordView, _ id: UInt64
  ) throws(StoreError) {
    try core.collectKeys(of: stored, id: id, of: entity, into: &core.oldKeys)
    try core.collectKeys(of: record, id: id, of: entity, into: &core.newKeys)
    for (number, index) in entity.indexes.enumerated() where index.isUnique {
      if core.newKeys.isEqual(to: core.oldKeys, at: number) { continue }
      try core.encodeKey(of: incoming, id: id, in: index, of: entity)
      let isIncoming = core.newKeys.withKey(number) { compareKeys($0, core.key.bytes) == 0 }
      if !isIncoming { isApart[place] = true }
    }
  }

  func missing(_ id: UInt64) -> StoreError {
    .damagedIndex(entity.name, "an index leads to record \(id), which is not there")
  }

  // MARK: New records

  private func append(_ writes: ChangeBatch) throws(StoreError) {
    let first = try core.nextID(of: entity)
    var next = first
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      for place in 0..<batch.count
      where !isApart[place] && isOpen(place) && holders[place] == nil {
        let id = next
        if let record = renewed.removeValue(forKey: place) {
          try record.withBytes { (bytes) throws(StoreError) in
            try append(try entity.view(incoming: bytes), id, at: cursor, writes)
          }
          outcomes[place] = .updated(id)
          next += 1
          continue
        }
        if let refusal = refusalOfNew(place) {
          outcomes[place] = .rejected(refusal)
          continue
        }
        let view = try entity.view(incoming: batch[place])
        if changes.hasConstraints, let refusal = try changes.refusal(of: view, id: nil) {
          outcomes[place] = .rejected(refusal)
          continue
        }
        try append(view, id, at: cursor, writes)
        outcomes[place] = isRenewed[place] ? .updated(id) : .inserted(id)
        next += 1
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    core.nextIDs[entity.number] = next
    if changes.isHeard { try changes.listeners.tellInserted(first..<next) }
  }

  /// Why a record that was given only some attributes cannot be a new one.
  func refusalOfNew(_ place: Int) -> StoreError? {
    guard !batch.isWhole(place) else { return nil }
    let missing = entity.description.declaredAttributes.enumerated().first {
      !batch.isGiven($0, at: place) && !$1.isOptional && $1.initial == .null
    }
    guard let name = missing?.element.name else { return nil }
    if let part = entity.part, part.missing == name {
      return .undeclaredRequired(entity: entity.name, attribute: name)
    }
    return StoreError(
      .unstorableValue,
      "cannot insert a \(entity.name): '\(name)' was not given, and is required",
      entity: entity.name, attribute: name)
  }

  private func append(
    _ view: RecordView, _ id: UInt64, at cursor: Cursor, _ writes: ChangeBatch
  ) throws(StoreError) {
    try writes.insert(view.bytes, view, id: id, at: cursor)
    if changes.isHeard, changes.listeners.wantNewRecords {
      try changes.listeners.tellInsertedRecord(id, view)
    }
  }
}

extension MergeRule {
  /// Whether a record that is equal to the stored one is told as unchanged, not refused or ignored.
  var keepsEqualRecords: Bool {
    switch self {
    case .fail, .ignore, .closure: false
    case .replace, .renew, .patch, .patchGiven, .policy: true
    }
  }

  /// Whether a merged record has values of the stored one, and so needs it to be sound.
  var keepsStoredValues: Bool { makesOtherKeys }

  /// Whether a merged record may have a unique key that neither of the two had.
  var makesOtherKeys: Bool {
    switch self {
    case .fail, .ignore, .replace, .renew: false
    case .patch, .patchGiven, .policy, .closure: true
    }
  }
}
