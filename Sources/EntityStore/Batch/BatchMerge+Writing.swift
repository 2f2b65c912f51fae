internal import LMDB
internal import LodestoreFormat

extension BatchMerge {
  /// Writes all records that do not go by themselves.
  func writeTogether() throws(StoreError) {
    let removed = EntryArenas(count: entity.indexes.count, expectedCount: 0)
    let added = EntryArenas(count: entity.indexes.count, expectedCount: batch.count)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      for (holder, place) in heldPlaces() {
        try change(place, holder, cursor, removed: removed, added: added)
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    try append(added)
    for (place, index) in entity.indexes.enumerated() {
      removed[place].sort()
      try removed[place].remove(from: index, core: core)
      added[place].sort()
      try added[place].write(into: index, core: core)
    }
  }

  /// The places with stored records, in the order of these: neighbours are read together.
  private func heldPlaces() -> [(holder: UInt64, place: Int)] {
    var held: [(holder: UInt64, place: Int)] = []
    held.reserveCapacity(batch.count)
    var isSorted = true
    for place in outcomes.indices where outcomes[place] == nil && !isApart[place] {
      guard let holder = holders[place] else { continue }
      if let last = held.last, last.holder > holder { isSorted = false }
      held.append((holder, place))
    }
    // What came in one order mostly comes in it again.
    if !isSorted { held.sort { $0.holder < $1.holder } }
    return held
  }

  // MARK: Stored records

  private func change(
    _ place: Int, _ holder: UInt64, _ cursor: Cursor, removed: EntryArenas, added: EntryArenas
  ) throws {
    // Neighbours mostly lie side by side.
    let isNext = try cursor.integerKey &+ 1 == holder && cursor.next()
    guard try isNext && cursor.integerKey == holder || cursor.seek(holder) else {
      throw missing(holder)
    }
    if isUnchanged(place, cursor.value) {
      outcomes[place] = .unchanged(holder)
      return
    }
    let stored = try entity.view(cursor.value, id: holder)
    try batch.withRecord(place) { (incoming) throws(StoreError) in
      guard let record = try changed(place, holder, stored, incoming) else { return }
      do {
        try collect(place, stored, record, incoming, holder, removed: removed, added: added)
        if isApart[place] { return }
        if case .renew = rule {
          try core.raiseCounter(of: entity)
          try cursor.delete()
          holders[place] = nil
          isRenewed[place] = true
        } else {
          try record.withBytes { (bytes) throws(LMDBError) in
            try cursor.replaceCurrent(with: bytes)
          }
          outcomes[place] = .updated(holder)
        }
      } catch {
        throw StoreError(wrapping: error)
      }
    }
  }

  /// The sealed record that the stored one becomes; `nil`, with the outcome noted, when it stays.
  private func changed(
    _ place: Int, _ holder: UInt64, _ stored: RecordView, _ incoming: UnsafeRawBufferPointer
  ) throws(StoreError) -> [UInt8]? {
    if core.store.options.verifiesChecksums { try entity.verifyChecksum(of: stored, id: holder) }
    let content: [UInt8]
    do throws(StoreError) {
      let input = MergeInput(
        core: core, entity: entity, id: holder, stored: stored,
        incoming: try entity.view(incoming, id: 0))
      switch try rule.merge(input, isGiven: { batch.isGiven($0, at: place) }) {
      case .kept:
        outcomes[place] = .ignored(holder)
        return nil
      case .incoming: content = Array(incoming)
      case .content(let merged):
        try core.checkSize(merged.count - RecordLayout.checksumSize, of: entity)
        content = merged
      }
    } catch  where error.code != .damaged {
      outcomes[place] = .rejected(error)
      return nil
    }
    var record = content
    try record.withMutableBytes { (bytes) throws(StoreError) in
      _ = core.seal(
        UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast(RecordLayout.checksumSize)),
        id: holder)
    }
    if try isSame(stored, record, id: holder) {
      outcomes[place] = .unchanged(holder)
      return nil
    }
    if let refusal = try violation(of: record, id: holder) {
      outcomes[place] = .rejected(refusal)
      return nil
    }
    return record
  }

  /// The constraint that a record, about to be written in place of record `id`, breaks.
  func violation(of record: [UInt8], id: UInt64) throws(StoreError) -> StoreError? {
    guard entity.validator != nil else { return nil }
    return try record.withBytes { (bytes) throws(StoreError) in
      try violation(of: try entity.view(bytes, id: id), id: id)
    }
  }

  /// The constraint that a record breaks; `id` is nil for a new one.
  func violation(of view: RecordView, id: UInt64?) throws(StoreError) -> StoreError? {
    do {
      try entity.validate(view, id: id)
      return nil
    } catch  where error.code == .invalidValue {
      return error
    }
  }

  /// Whether a stored record has the bytes of the incoming one, as most records of an import that
  /// comes again have; such a record is not damaged either.
  @inline(__always)
  private func isUnchanged(_ place: Int, _ stored: UnsafeRawBufferPointer) -> Bool {
    guard rule.keepsEqualRecords, batch.isWhole(place) else { return false }
    let incoming = batch[place]
    let count = incoming.count - RecordLayout.checksumSize
    return stored.count == incoming.count
      && core.isSame(
        UnsafeRawBufferPointer(rebasing: stored[..<count]),
        UnsafeRawBufferPointer(rebasing: incoming[..<count]))
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

  /// Notes the entries that change; sets the record apart when a merge gave it a unique key that
  /// neither record had.
  private func collect(
    _ place: Int, _ stored: RecordView, _ record: [UInt8], _ incoming: UnsafeRawBufferPointer,
    _ id: UInt64, removed: EntryArenas, added: EntryArenas
  ) throws(StoreError) {
    try core.collectKeys(of: stored, id: id, of: entity, into: &core.oldKeys)
    if case .renew = rule {
      for (arena, _) in entity.indexes.enumerated() {
        core.oldKeys.withKey(arena) { removed[arena].append(key: $0, recordID: id) }
      }
      return
    }
    try record.withBytes { (bytes) throws(StoreError) in
      let view = try entity.view(bytes, id: id)
      try core.collectKeys(of: view, id: id, of: entity, into: &core.newKeys)
    }
    if rule.makesOtherKeys {
      try setApartOtherKeys(place, try entity.view(incoming, id: id), id)
      if isApart[place] { return }
    }
    for arena in entity.indexes.indices where !core.newKeys.isEqual(to: core.oldKeys, at: arena) {
      core.oldKeys.withKey(arena) { removed[arena].append(key: $0, recordID: id) }
      core.newKeys.withKey(arena) { added[arena].append(key: $0, recordID: id) }
    }
  }

  private func setApartOtherKeys(
    _ place: Int, _ incoming: RecordView, _ id: UInt64
  ) throws(StoreError) {
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

  private func append(_ added: EntryArenas) throws(StoreError) {
    var next = try core.nextID(of: entity)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      for place in outcomes.indices
      where outcomes[place] == nil && !isApart[place] && holders[place] == nil {
        if let refusal = refusalOfNew(place) {
          outcomes[place] = .rejected(refusal)
          continue
        }
        let id = next
        try batch.withRecord(place) { (record) throws(StoreError) in
          let view = try entity.view(record, id: id)
          if let refusal = try violation(of: view, id: nil) {
            outcomes[place] = .rejected(refusal)
            return
          }
          for (arena, index) in entity.indexes.enumerated() {
            try core.encodeKey(of: view, id: id, in: index, of: entity)
            added[arena].append(key: core.key.bytes, recordID: id)
          }
          try append(record, id, at: cursor)
          outcomes[place] = isRenewed[place] ? .updated(id) : .inserted(id)
          next += 1
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    core.nextIDs[entity.number] = next
  }

  /// Why a record that was given only some attributes cannot be a new one.
  func refusalOfNew(_ place: Int) -> StoreError? {
    guard !batch.isWhole(place) else { return nil }
    let missing = entity.description.declaredAttributes.enumerated().first {
      !batch.isGiven($0, at: place) && !$1.isOptional && $1.initial == .null
    }
    guard let name = missing?.element.name else { return nil }
    return StoreError(
      .unstorableValue,
      "cannot insert a \(entity.name): '\(name)' was not given, and is required",
      entity: entity.name, attribute: name)
  }

  private func append(
    _ record: UnsafeRawBufferPointer, _ id: UInt64, at cursor: Cursor
  ) throws(StoreError) {
    do {
      guard let page = try cursor.appendReserving(id, byteCount: record.count) else {
        throw StoreError.damagedIndex(entity.name, "record \(id) exists although it is new")
      }
      page.copyMemory(from: record)
      _ = core.seal(
        UnsafeMutableRawBufferPointer(rebasing: page.dropLast(RecordLayout.checksumSize)), id: id)
    } catch {
      throw StoreError(wrapping: error)
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

  /// Whether a merged record may have a unique key that neither of the two had.
  var makesOtherKeys: Bool {
    switch self {
    case .fail, .ignore, .replace, .renew: false
    case .patch, .patchGiven, .policy, .closure: true
    }
  }
}
