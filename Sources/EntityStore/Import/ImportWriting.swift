internal import LMDB
internal import LodestoreFormat

extension ImportEngine {
  /// The result of a group's transaction.
  struct WriteResult: Sendable {
    var state: ImportState
    var rejects: [ImportReport.Reject] = []
    /// The error that ends the import after these pages.
    var stop: StoreError?
  }

  /// Thrown to abort the transaction when a page exceeds the limit on rejects.
  private struct TooManyRejects: Error {
    var page: Int
    /// The rejects of the page, up to the first one beyond the limit.
    var rejects: [ImportReport.Reject]
    var last: ImportReport.Reject
  }

  /// Writes a group's pages and the state of the import in one transaction.
  ///
  /// Runs on the writer's thread. When a page must be written again, the pages before it are
  /// committed in a transaction of their own.
  func write(_ group: ImportGroup, after state: ImportState) throws -> WriteResult {
    var result = WriteResult(state: state)
    var rest = group.pages[...]
    var known: [Int: PageRefusals] = [:]
    var isOneByOne = false
    while !rest.isEmpty {
      let pages = isOneByOne ? rest.prefix(1) : rest
      do {
        try write(pages, known, &result)
        rest = rest[pages.endIndex...]
      } catch let error as StoreError where error.isOfLateRule {
        // The rule was checked at the end of the transaction, which does not show the faulty page.
        // The pages are therefore written one by one, the faulty page without the faulty record.
        if pages.count > 1 {
          isOneByOne = true
          continue
        }
        let page = pages[pages.startIndex]
        guard let row = try firstBreaking(page, known[page.number], after: result.state) else {
          throw error
        }
        known[page.number, default: PageRefusals(page: page.number)].refused[row] = error
      } catch let found as PageRefusals {
        known[found.page, default: PageRefusals(page: found.page)].add(found)
        let page = rest.firstIndex { $0.number == found.page } ?? rest.startIndex
        if page > rest.startIndex { try write(rest[..<page], known, &result) }
        rest = rest[page...]
      } catch let excess as TooManyRejects {
        // The pages before the one with too many rejects are committed.
        let before = rest.prefix(excess.page)
        if !before.isEmpty { try write(before, known, &result) }
        result.rejects += excess.rejects
        result.stop = .tooManyRejects(excess.last, limit: options.rejectLimit)
        return result
      }
    }
    return result
  }

  /// Writes pages in one transaction.
  ///
  /// - Parameter known: the records already known to be refused, by page number.
  private func write(
    _ pages: ArraySlice<DecodedPage>, _ known: [Int: PageRefusals], _ result: inout WriteResult
  ) throws {
    let start = ContinuousClock.now
    var part = try write(pages, after: result.state, known)
    part.state.report.writingSeconds += (ContinuousClock.now - start).inSeconds
    result.state = part.state
    result.rejects += part.rejects
  }

  private func write(
    _ pages: ArraySlice<DecodedPage>, after state: ImportState, _ known: [Int: PageRefusals]
  ) throws -> WriteResult {
    try core.write(origin: origin) { core in
      let log = try WritableImportLog(name, core)
      let stored = try log.reads.state()
      guard let stored, stored.report.run == state.report.run, stored.pages == state.pages else {
        throw StoreError.anotherImport(name)
      }
      var result = WriteResult(state: state)
      let remembers = pages.contains { $0.memory != nil && !$0.isUnchanged }
      try keepingBasis(core, log, remembers: remembers) { epoch in
        try merge(pages, in: core, log: log, epoch: epoch, known: known, result: &result)
      }
      result.state.report.commits += 1
      try log.put(result.state)
      return result
    }
  }

  /// Merges the pages in their order.
  ///
  /// Pages without links are merged together, with the same result as one by one. With links, each
  /// page is merged separately. The target of a key must depend only on the pages before it, and
  /// not on the division of pages into transactions.
  private func merge(
    _ pages: ArraySlice<DecodedPage>, in core: WriteCore, log: WritableImportLog, epoch: UInt64,
    known: [Int: PageRefusals], result: inout WriteResult
  ) throws {
    let destination = try self.destination(in: core)
    let entity = destination.entity
    var remembered = RememberedLinks.ByPage(
      pages.filter { $0.memory != nil && !$0.isUnchanged }.map(\.number), linkCount: links.count)
    var written: [WrittenPage] = []
    if links.isEmpty, known.isEmpty {
      var (batch, ends) = try records(of: pages, for: entity)
      let outcomes = try BatchMerge(
        batch, into: entity, matching: destination.matching, rule: rule,
        pages: .init(ends: ends, takesLast: rule.takesLastOfPage), core: core
      ).apply()
      ends.insert(0, at: 0)
      for (page, bounds) in zip(pages, zip(ends, ends.dropFirst())) {
        let rows = bounds.0..<bounds.1
        let seen =
          strategy == .mirror
          ? try seenIDs(of: batch, rows: rows, outcomes: outcomes, in: destination) : []
        try note(
          MergedPage(page: page, outcomes: Array(outcomes[rows]), seen: seen, links: nil),
          of: entity, log: log, epoch: epoch, written: &written, result: &result)
      }
      batch.removeAll()
    } else {
      for page in pages {
        var (batch, _) = try records(of: CollectionOfOne(page), for: entity)
        let outcomes = try merge(
          page, records: &batch, into: destination, known: known[page.number], result: &result,
          remembered: &remembered)
        let seen =
          strategy == .mirror
          ? try seenIDs(of: batch, rows: 0..<batch.count, outcomes: outcomes, in: destination) : []
        try note(
          MergedPage(
            page: page, outcomes: outcomes, seen: seen, links: remembered[page.number]),
          of: entity, log: log, epoch: epoch, written: &written, result: &result)
      }
    }
    if entity.description.history != nil { core.recordSeparately(steps(written, entity)) }
  }

  /// Returns the records of the pages in the current layout, and the end of each page.
  func records(
    of pages: some Sequence<DecodedPage>, for entity: StoredEntity
  ) throws -> (batch: IncomingRecords, ends: [Int]) {
    var batch = IncomingRecords(entity.layout)
    var ends: [Int] = []
    for page in pages {
      if page.batch.layout.number == entity.layout.number {
        batch.append(page.batch)
      } else {
        try batch.append(page.batch, carriedOverTo: entity)
      }
      ends.append(batch.count)
    }
    return (batch, ends)
  }

  /// Merges one page with links, or with records that are already known to be refused.
  func merge(
    _ page: DecodedPage, records batch: inout IncomingRecords, into destination: ImportDestination,
    known: PageRefusals?, result: inout WriteResult, remembered: inout RememberedLinks.ByPage
  ) throws -> [BatchMerge.Outcome] {
    let (entity, core) = (destination.entity, destination.core)
    let found = try resolve(
      page, in: &batch, known: known, for: destination, state: &result.state)
    let merge = try BatchMerge(
      batch, into: entity, matching: destination.matching, rule: rule,
      pages: .init(
        ends: [batch.count], takesLast: rule.takesLastOfPage, firstID: found.firstID,
        made: Set(result.state.madeRecords ?? []),
        unresolved: found.unresolved.mapValues { $0.map(\.place) }, refused: found.refused),
      core: core)
    merge.tally = linkTally(of: entity, core)
    let outcomes = try merge.apply()
    try checkTargets(found, page, outcomes)
    if let change = merge.tally?.total { count(change, in: &result.state.report) }
    if result.state.madeRecords != nil {
      let brought = Set(outcomes.compactMap { try? $0.id() })
      result.state.madeRecords?.removeAll(where: brought.contains)
    }
    try finish(
      MergedLinks(page: page, found: found, merge: merge, outcomes: outcomes), in: destination,
      state: &result.state, remembered: &remembered)
    return outcomes
  }

  /// Returns the ids that a mirror must keep: the page's records, and stored records with the keys
  /// of rejected records.
  private func seenIDs(
    of batch: IncomingRecords, rows: Range<Int>, outcomes: [BatchMerge.Outcome],
    in destination: ImportDestination
  ) throws(StoreError) -> [UInt64] {
    var ids: [UInt64] = []
    for row in rows {
      if let id = try? outcomes[row].id() {
        ids.append(id)
      } else if let id = try holder(of: batch, at: row, in: destination) {
        ids.append(id)
      }
    }
    return ids
  }

  /// A page whose records are merged, and which the state of the import does not know yet.
  private struct MergedPage {
    let page: DecodedPage
    let outcomes: [BatchMerge.Outcome]
    /// The ids that a mirror must keep.
    let seen: [UInt64]
    let links: [RememberedLinks]?
  }

  /// A written page, with the outcomes of its records.
  private struct WrittenPage {
    let number: Int
    let outcomes: [BatchMerge.Outcome]
  }

  /// Counts the outcomes of a page's records, and updates the state of the import.
  private func note(
    _ merged: MergedPage, of entity: StoredEntity, log: WritableImportLog, epoch: UInt64,
    written: inout [WrittenPage], result: inout WriteResult
  ) throws {
    let page = merged.page
    count(page, merged.outcomes, &result)
    let limit = max(0, options.rejectLimit)
    if result.state.report.rejected > limit, let last = result.rejects.last {
      let rejects = result.rejects.filter { $0.page == last.page }
      throw TooManyRejects(page: written.count, rejects: rejects, last: last)
    }
    written.append(WrittenPage(number: page.number, outcomes: merged.outcomes))
    // Records that were encoded for another schema are not remembered, so that they are encoded
    // again.
    let isCurrent = page.batch.layout.number == entity.layout.number
    try note(merged, log: log, epoch: isCurrent ? epoch : nil, state: &result.state)
  }

  /// Returns the ids written by each page; the history records each page as a separate write.
  ///
  /// A record that several pages contain belongs to the last one, whose values it has.
  private func steps(_ pages: [WrittenPage], _ entity: StoredEntity) -> [WriteStep] {
    var taken = IDRuns()
    var steps: [WriteStep] = []
    for page in pages.reversed() {
      var ids = IDRuns()
      for outcome in page.outcomes {
        if let id = try? outcome.id() { ids.append(id) }
      }
      ids.normalize()
      ids = ids.subtracting(taken)
      taken = IDRuns(taken.ranges + ids.ranges)
      steps.append(WriteStep(entity: entity.number, ids: ids, context: "page \(page.number)"))
    }
    return steps.reversed()
  }

  private func count(
    _ page: DecodedPage, _ outcomes: [BatchMerge.Outcome], _ result: inout WriteResult
  ) {
    var rejects = page.rejects
    for (origin, outcome) in zip(page.origins, outcomes) {
      switch outcome {
      case .inserted: result.state.report.inserted += 1
      case .updated: result.state.report.updated += 1
      case .unchanged: result.state.report.unchanged += 1
      case .ignored: result.state.report.ignored += 1
      case .rejected(let error):
        rejects.append(page.reject(of: origin, attribute: error.attribute, reason: error.message))
      }
    }
    // Other rejected records have keys, and the mirror has counted the stored records with these
    // keys as seen.
    if let unkeyed = result.state.unkeyedRejects {
      result.state.unkeyedRejects = unkeyed + page.rejects.count
    }
    rejects.sort { $0.record < $1.record }
    // The report ends with the first reject beyond the limit.
    let room = max(0, max(0, options.rejectLimit) - result.state.report.rejected)
    if rejects.count > room { rejects.removeSubrange((room + 1)...) }
    for reject in rejects { result.state.report.reject(reject) }
    result.rejects += rejects
    result.state.report.count(unknownMembers: page.unknownMembers)
    for warning in page.warnings { result.state.report.warn(warning, file: page.file) }
    result.state.report.bytes += page.byteCount
    result.state.report.pages += 1
    if page.isUnchanged { result.state.report.unchangedPages += 1 }
  }

  /// Returns the id of the stored record with the key of an incoming one.
  func holder(
    of batch: IncomingRecords, at row: Int, in destination: ImportDestination
  ) throws(StoreError) -> UInt64? {
    guard let index = destination.index else { return nil }
    let (entity, core) = (destination.entity, destination.core)
    let view = try batch.view(row, of: entity)
    let hasNull = try core.encodeKey(of: view, id: 0, in: index, of: entity)
    return hasNull ? nil : try core.holder(of: core.key.bytes, in: index)
  }

  /// Updates the state of the import, the remembered facts about the page, and the records that a
  /// mirror has seen.
  private func note(
    _ merged: MergedPage, log: WritableImportLog, epoch: UInt64?, state: inout ImportState
  ) throws {
    let page = merged.page
    state.pages = page.number
    state.position = page.next
    state.isAtEnd = page.isFromSource && page.next == nil
    state.digest = page.digest
    var ids: [UInt64]?
    if strategy == .mirror {
      let seen =
        page.isUnchanged
        ? try page.memory.flatMap { try log.reads.memory(of: $0.name)?.ids } ?? [] : merged.seen
      try log.putSeen(seen, page: page.number)
      // A page with rejected records must be read again, so the ids are not stored.
      ids = page.rejects.isEmpty ? seen : nil
    }
    if let memory = page.memory, !page.isUnchanged {
      try log.remember(RememberedPage(page: memory, ids: ids, epoch: epoch, links: merged.links))
    }
  }

  // MARK: Ending the import

  /// Ends the import: a mirror deletes unseen records, and the report is stored.
  func end(_ state: ImportState) throws -> ImportReport {
    try core.write(origin: origin) { core in
      let log = try WritableImportLog(name, core)
      guard let stored = try log.reads.state(), stored.report.run == state.report.run,
        stored.pages == state.pages
      else { throw StoreError.anotherImport(name) }
      var state = state
      if state.pendingLinks?.isEmpty == false {
        try keepingBasis(core, log, remembers: false) { _ in try resolvePending(&state, core) }
      }
      var report = state.report
      if strategy == .mirror {
        let hasAllKeys =
          options.deletesDespiteRejects || (state.unkeyedRejects ?? report.rejected) == 0
        // Records missing from a truncated file are not rejects, and may be any of the stored ones.
        let mayDelete = hasAllKeys && !report.isCut
        try keepingBasis(core, log, remembers: false) { _ in
          try deleteUnseen(log, core, &report, mayDelete, pages: state.pages)
        }
      }
      report.ending = .finished
      try log.end(report)
      return report
    }
  }

  private func deleteUnseen(
    _ log: WritableImportLog, _ core: WriteCore, _ report: inout ImportReport, _ mayDelete: Bool,
    pages: Int
  ) throws {
    if !mayDelete {
      report.keptUnseen = true
      return
    }
    let entity = try self.entity(core)
    let (seen, pageCount) = try log.reads.seenIDs()
    // A salvaged file may have lost the seen records of a page.
    guard pageCount == pages else { throw StoreError.lostPages(name, pages - pageCount, of: pages) }
    var unseen: [UInt64] = []
    var position = 0
    try core.forEachStored(of: entity) { (id, _) throws(StoreError) in
      while position < seen.count, seen[position] < id { position += 1 }
      if position == seen.count || seen[position] != id { unseen.append(id) }
    }
    if seen.isEmpty, !unseen.isEmpty, !options.mirrorsEmptySources {
      report.keptUnseen = true
      return
    }
    report.deleted = try core.delete(unseen, of: entity)
    // A remembered page that contained a deleted record is forgotten. Otherwise the page, reported
    // as unchanged, would never bring the record back.
    if !unseen.isEmpty { try log.forgetPages(with: Set(unseen)) }
  }

  /// Stores an error in the report of the import, which can be resumed.
  func note(_ state: ImportState) throws {
    try core.write(origin: origin) { core in
      let log = try WritableImportLog(name, core)
      guard let stored = try log.reads.state(), stored.report.run == state.report.run,
        stored.pages == state.pages
      else { return }
      try log.put(state)
    }
  }
}

extension IncomingRecords {
  /// Appends the records of `other`, converted from its older layout to the layout of `entity`.
  fileprivate mutating func append(
    _ other: IncomingRecords, carriedOverTo entity: StoredEntity
  ) throws(StoreError) {
    for row in 0..<other.count {
      let isGiven = entity.layout.attributes.map { attribute in
        other.layout.slotIndex(ofAttribute: attribute.number)
          .map { other.isGiven($0, at: row) } ?? false
      }
      let values = try entity.values(of: try entity.view(other[row], id: 0), id: 0)
      append(try entity.record(of: values), given: isGiven)
    }
  }
}

extension StoreError {
  fileprivate static func anotherImport(_ name: String) -> StoreError {
    StoreError(
      .importStopped,
      "cannot continue import '\(name)': another import with this name has begun; give each import its "
        + "own name")
  }

  fileprivate static func lostPages(_ name: String, _ count: Int, of total: Int) -> StoreError {
    StoreError(
      .importStopped,
      "cannot end mirror '\(name)': the store has lost the list of records of \(count) of its \(total) pages, "
        + "so the records to delete are unknown; run the import again without resuming")
  }

  fileprivate static func tooManyRejects(_ reject: ImportReport.Reject, limit: Int) -> StoreError {
    let what = limit == 0 ? "a record was rejected" : "more than \(limit) records were rejected"
    return StoreError(
      .importStopped,
      "the import ended at page \(reject.page) record \(reject.record): \(what) (\(reject.reason)); "
        + "nothing of this page is kept, earlier pages are", attribute: reject.attribute)
  }
}
