internal import LMDB
internal import LodestoreFormat

extension BatchMerge {
  /// Writes all records that need not be written one at a time.
  func writeTogether() throws(StoreError) {
    // `match(by:isMatching:)` has already found all stored records with unique keys of the batch,
    // so uniqueness is not checked again.
    try changes.withChangeBatch(expectedCount: batch.count, checksUnique: false) { writes in
      let cursor = try WritingCursor(entity.records, in: core.writing)
      let matches = matchedPositions()
      for (number, item) in matches.enumerated() {
        if number &+ 8 < matches.count { batch.fetchAhead(matches[number &+ 8].index) }
        try change(item.index, item.word, cursor, writes)
      }
      try append(writes)
    }
  }

  /// The positions in the batch that have stored records, sorted by the ids of the stored records.
  ///
  /// Adjacent records are then read together.
  func matchedPositions() -> [SortItem] {
    var matches = WordSort()
    matches.reserve(batch.count)
    for position in 0..<batch.count where !isAlone[position] && isOpen(position) {
      if let holder = holders[position] { matches.append(holder, index: position) }
    }
    matches.sort(tick: {})
    return matches.items
  }

  /// Returns whether the record at `position` of the batch has no outcome yet, so that it is still
  /// to be written.
  @inline(__always)
  private func isOpen(_ position: Int) -> Bool {
    if case .none = outcomes[position] { true } else { false }
  }

  // MARK: Stored records

  /// Returns whether values of the stored record may become part of the merged one.
  @inline(__always)
  func carriesOver(_ position: Int) -> Bool { rule.combinesValues || !batch.isWhole(position) }

  /// The outcome of a merge.
  enum MergedRecord {
    /// The stored record stays unchanged.
    case kept
    /// The rule refuses the incoming record.
    case refused(StoreError)
    case record(UnsealedRecord)
  }

  /// Applies the rule to a record and its stored record.
  func merged(
    _ position: Int, _ stored: StoredRecord, _ incoming: RecordView
  ) throws(StoreError) -> MergedRecord {
    let input = MergeInput(
      core: core, entity: entity, id: stored.id, stored: stored.view, incoming: incoming)
    let rule = pages.made.contains(stored.id) ? .replace : rule
    do throws(StoreError) {
      let merged =
        if let unresolved = pages.unresolved[position] {
          try mergedWithLinks(position, input, rule, unresolved)
        } else {
          try merged(position, input, rule)
        }
      switch merged {
      case .kept: return .kept
      case .incoming: return .record(changes.copy(incoming.bytes))
      case .record(let record):
        try core.writer.checkSize(record.contentCount, of: entity)
        return .record(changes.copy(record))
      }
    } catch  where error.code != .damaged {
      return .refused(error)
    }
  }

  private func merged(
    _ position: Int, _ input: MergeInput, _ rule: MergeRule
  ) throws(StoreError) -> MergeRule.Merged {
    try rule.merge(input, isWhole: batch.isWhole(position)) { batch.isGiven($0, at: position) }
  }

  /// Merges a record with links to records that do not exist yet.
  ///
  /// For such a link, the rule receives an id that no record has. If the merged value is this id,
  /// the record has null until the link is resolved.
  private func mergedWithLinks(
    _ position: Int, _ input: MergeInput, _ rule: MergeRule, _ unresolved: [Int]
  ) throws(StoreError) -> MergeRule.Merged {
    var values = try input.values().incoming
    for place in unresolved { values[place] = MergeInput.unresolvedLink }
    return try entity.record(of: values, id: input.id).withView(of: entity) {
      (view) throws(StoreError) in
      var input = input
      input.incoming = view
      switch try merged(position, input, rule) {
      case .kept:
        untaken[position] = Set(unresolved)
        return .kept
      case .incoming:
        untaken[position] = nil
        return .incoming
      case .record(let record):
        var values = try record.withView(of: entity) { (view) throws(StoreError) in
          try entity.values(of: view, id: input.id)
        }
        untaken[position] = Set(unresolved.filter { values[$0] != MergeInput.unresolvedLink })
        for place in unresolved where values[place] == MergeInput.unresolvedLink {
          values[place] = .null
        }
        return .record(try entity.record(of: values, id: input.id))
      }
    }
  }

  private func change(
    _ position: Int, _ holder: UInt64, _ cursor: WritingCursor, _ writes: ChangeBatch
  ) throws {
    // Consecutive ids are mostly adjacent, so the next record is tried before a search.
    let isNext = try cursor.reads.integerKey &+ 1 == holder && cursor.reads.next()
    guard try isNext && cursor.reads.integerKey == holder || cursor.reads.seek(holder) else {
      throw missing(holder)
    }
    if isUnchanged(position, holder, at: cursor.reads) {
      outcomes[position] = .unchanged(holder)
      return
    }
    let stored = try changes.stored(
      cursor.reads.value, id: holder, isCarriedOver: carriesOver(position))
    let record: SealedRecord
    if !planned.isEmpty, let kept = planned.removeValue(forKey: position) {
      record = try changes.sealed(kept)
    } else {
      guard let made = try changed(position, stored) else { return }
      record = made
    }
    if case .reinsert = rule {
      try tallyLinks(stored.view, record.view)
      reinsertions[position] = try writes.remove(
        stored, reinserting: record, of: position, isIncoming: batch.isWhole(position), at: cursor)
      holders[position] = nil
    } else {
      if carriesOver(position), try hasNewKey(position, stored, record) {
        isAlone[position] = true
        return
      }
      try tallyLinks(stored.view, record.view)
      try writes.replace(stored, with: record, at: cursor)
      outcomes[position] = .updated(holder)
    }
  }

  /// Merges a stored record with the incoming one.
  ///
  /// With the rule `reinsert`, the caller deletes the stored record and inserts the merged one.
  ///
  /// - Returns: the merged record; `nil` when the stored record stays as it is. In this case the
  ///   method has set the outcome.
  private func changed(
    _ position: Int, _ stored: StoredRecord
  ) throws(StoreError) -> SealedRecord? {
    let merged: MergedRecord
    if case .replace = rule, batch.isWhole(position) {
      merged = .record(changes.copy(batch[position]))
    } else {
      merged = try self.merged(position, stored, try batch.view(position, of: entity))
    }
    /// `nil` when the stored record has equal values.
    let prepared: PreparedRecord?
    switch merged {
    case .kept:
      outcomes[position] = .ignored(stored.id)
      return nil
    case .refused(let error): prepared = .refused(error)
    case .record(let record):
      if case .reinsert = rule {
        prepared = try reinserted(stored, with: record).map { (new) throws(StoreError) in
          try changes.prepareOrRefuse(new, id: stored.id, isNew: true)
        }
      } else {
        prepared = try changes.prepareOrRefuse(
          try changes.derived(record, over: stored), over: stored)
      }
    }
    switch prepared {
    case .ready(let record): return record
    case nil: outcomes[position] = .unchanged(stored.id)
    case .refused(let refusal): outcomes[position] = .rejected(refusal)
    }
    return nil
  }

  /// Returns the record to insert in place of `stored` by the rule ``MergeRule/reinsert``.
  ///
  /// Returns `nil` when `stored` has equal values.
  func reinserted(
    _ stored: StoredRecord, with record: UnsealedRecord
  ) throws(StoreError) -> DerivedRecord? {
    let changed = try changes.derived(record, over: stored)
    return try changes.isSame(stored, as: changed) ? nil : try changes.derived(changed.record)
  }

  /// Returns whether the record at the cursor has the bytes of the incoming one.
  ///
  /// The comparison saves time, because most records of a repeated import are unchanged. The
  /// checksum of the record is verified if the options require it.
  @inline(__always)
  private func isUnchanged(_ position: Int, _ holder: UInt64, at cursor: Cursor) -> Bool {
    guard rule.keepsEqualRecords, batch.isWhole(position), pages.unresolved[position] == nil
    else { return false }
    let stored = cursor.value
    return batch.isSame(position, as: stored) && changes.isSound(stored, id: holder)
  }

  /// Returns whether the merged record has a unique key that neither the stored nor the incoming
  /// one had.
  ///
  /// The holder of such a key has not been looked up.
  private func hasNewKey(
    _ position: Int, _ stored: StoredRecord, _ record: SealedRecord
  ) throws(StoreError) -> Bool {
    let incoming = try batch.view(position, of: entity)
    return try changes.withKeys(of: stored.id, from: stored.view, to: record.view) {
      (keys) throws(StoreError) in
      for (number, index) in entity.indexes.enumerated()
      where index.isUnique && keys.isMoved(number) {
        try core.encodeKey(of: incoming, id: stored.id, in: index, of: entity)
        let isIncoming = keys.new.withKey(number) { compareKeys($0, core.key.bytes) == 0 }
        if !isIncoming { return true }
      }
      return false
    }
  }

  /// Merges all records with their stored ones before anything is written, and stores the results
  /// in ``planned``.
  ///
  /// Returns true and stores no results when a merged record has a unique key that neither the
  /// stored nor the incoming record had.
  func planningFindsNewKey() throws(StoreError) -> Bool {
    var decided: [Int] = []
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      for item in matchedPositions() {
        let (position, holder) = (item.index, item.word)
        guard try cursor.seek(holder) else { throw missing(holder) }
        if isUnchanged(position, holder, at: cursor) {
          outcomes[position] = .unchanged(holder)
          decided.append(position)
          continue
        }
        let stored = try changes.stored(
          cursor.value, id: holder, isCarriedOver: carriesOver(position))
        guard let record = try changed(position, stored) else {
          decided.append(position)
          continue
        }
        if try hasNewKey(position, stored, record) {
          for position in decided { outcomes[position] = nil }
          planned = [:]
          return true
        }
        planned[position] = SealedBytes(record)
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return false
  }

  /// Counts the added and removed links when `old` becomes `new`; `old` is `nil` for a new record.
  @inline(__always)
  func tallyLinks(_ old: RecordView?, _ new: RecordView) throws(StoreError) {
    add(try tally?.change(old, new))
  }

  func add(_ links: LinkTally.Change?) {
    if let links { tally?.add(links) }
  }

  func missing(_ id: UInt64) -> StoreError {
    .damagedIndex(entity.name, "an index leads to record \(id), which is not there")
  }

  // MARK: New records

  /// Returns whether the record is new and is appended with the others.
  @inline(__always)
  private func isNew(_ position: Int) -> Bool {
    !isAlone[position] && isOpen(position) && holders[position] == nil
  }

  private func append(_ writes: ChangeBatch) throws(StoreError) {
    let first: UInt64
    if let given = pages.firstID {
      first = given
      core.takeIDs(below: given &+ UInt64(batch.count), of: entity)
    } else {
      first = try core.nextID(of: entity)
    }
    // An exhausted range of ids is an error only if the batch has a new record.
    if first >= WriteCore.idLimit, (0..<batch.count).contains(where: isNew) {
      try core.checkNewID(first, of: entity)
    }
    var next = first
    do {
      let cursor = try WritingCursor(entity.records, in: core.writing)
      for position in 0..<batch.count where isNew(position) {
        let id = pages.firstID == nil ? next : first &+ UInt64(position)
        if !reinsertions.isEmpty, let reinsertion = reinsertions[position].take() {
          try writes.insert(reinsertion, of: derived, id: id, at: cursor)
          outcomes[position] = .updated(id)
        } else {
          switch try prepared(position, id) {
          case .ready(let record):
            try tallyLinks(nil, record.view)
            try writes.insert(record, at: cursor)
            outcomes[position] = .inserted(id)
          case .refused(let refusal):
            outcomes[position] = .rejected(refusal)
            continue
          }
        }
        next = id &+ 1
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    if pages.firstID == nil { core.takeIDs(below: next, of: entity) }
  }

  @inline(__always)
  private func prepared(_ position: Int, _ id: UInt64) throws(StoreError) -> PreparedNewRecord {
    if let refusal = refusalOfNew(position) { return .refused(refusal) }
    return try changes.prepareOrRefuse(new: position, of: derived, id: id)
  }

  /// The error for a record with only some attributes that cannot be inserted; `nil` when it can
  /// be.
  func refusalOfNew(_ position: Int) -> StoreError? {
    guard !batch.isWhole(position) else { return nil }
    let missing = entity.description.declaredAttributes.enumerated().first {
      !batch.isGiven($0, at: position) && !$1.isOptional && $1.defaultValue == .null
        && $1.derivation == nil
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
}

extension MergeRule {
  /// Whether a record that equals the stored one counts as unchanged, and not as refused or
  /// ignored.
  var keepsEqualRecords: Bool {
    switch self {
    case .fail, .ignore, .closure: false
    case .replace, .reinsert, .patch, .patchGiven, .policy: true
    }
  }

  /// Whether a merged record may contain values of both records.
  ///
  /// The stored record must then have a correct checksum, and the merged record may have a unique
  /// key that neither record had.
  var combinesValues: Bool {
    switch self {
    case .fail, .ignore, .replace, .reinsert: false
    case .patch, .patchGiven, .policy, .closure: true
    }
  }
}
